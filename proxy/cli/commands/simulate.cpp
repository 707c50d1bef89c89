#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/yaml/document.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/terminal/progress.hpp"
#include "proxy/tools/simulate/model/model_file.hpp"
#include "proxy/tools/simulate/model/model_keys.hpp"
#include "proxy/tools/simulate/modelled_world.hpp"
#include "proxy/tools/simulate/policies.hpp"
#include "proxy/tools/simulate/replay_log.hpp"
#include "proxy/tools/simulate/report/report.hpp"
#include "proxy/tools/simulate/report/report_html.hpp"
#include "proxy/tools/simulate/report/report_json.hpp"
#include "proxy/tools/simulate/report/report_svg.hpp"
#include "proxy/tools/simulate/report/report_text.hpp"
#include "proxy/tools/simulate/service_config.hpp"

namespace reprise::cli {
namespace {

struct SimulateArguments {
  std::string config;
  std::string log;
  bool lenient = false;
  tools::ModelArguments model;
  std::vector<std::string> policies;
  std::string service_config;  ///< name of a file; may be empty
  std::string format = "text";
  std::string html;
  std::string svg;
};

// The policies that a replay compares by default. In a replay, the upstream does not react to load, so the
// other policies would show no difference.
constexpr std::array<std::string_view, 3> words_of_replay{"none", "no-budget", "config"};

std::vector<std::string> words_of(const SimulateArguments& given) {
  if (!given.policies.empty()) return tools::split_policies(given.policies);
  if (!given.log.empty()) return {words_of_replay.begin(), words_of_replay.end()};
  const std::vector<std::string_view> words = tools::policy_words();
  return {words.begin(), words.end()};
}

bool is_file(std::string_view word) { return word.find_first_of("./") != std::string_view::npos; }

/// Returns the content of a file, such as a model. If the file cannot be read, prints why and returns
/// nothing.
std::optional<std::string> file_text(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  // Reads one byte more than the largest valid size, so that a file that is too large is detected.
  std::string text(config::largest_file + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad() || (!file.eof() && file.gcount() == 0)) {
    const std::string why = std::generic_category().message(errno == 0 ? EIO : errno);
    std::fprintf(stderr, "%s: error: cannot read the file: %s\n", path.c_str(), why.c_str());
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// Returns the requested policies. If a policy is invalid, prints why, sets the exit `code`, and returns
/// nothing.
std::optional<std::vector<tools::Subject>> subjects_of(const SimulateArguments& given,
                                                       const policy::RouteTable& routes, int& code) {
  std::vector<tools::Subject> subjects;
  for (const std::string& word : words_of(given)) {
    if (is_file(word)) {
      const config::Loaded other = load_configuration(word);
      code = exit_bad_configuration;
      if (!other.settings) return std::nullopt;
      subjects.push_back(*tools::policy_of("config", *other.settings->routes));
      subjects.back().name = word;
      subjects.back().sentence = "another configuration, unchanged";
      continue;
    }
    auto subject = tools::policy_of(word, routes);
    if (!subject) {
      std::fprintf(stderr, "reprise simulate: --policy: %s%s\n", tools::unknown_policy(word).c_str(),
                   config::did_you_mean(config::nearest(word, tools::policy_words())).c_str());
      code = exit_usage;
      return std::nullopt;
    }
    subjects.push_back(std::move(*subject));
  }
  return subjects;
}

/// Adds the policy of the service config, if the command line names one. If the file is invalid, prints why,
/// sets the exit `code`, and returns false.
bool add_service_config(const SimulateArguments& given, const policy::RouteTable& routes,
                        std::vector<tools::Subject>& subjects, tools::Report& report, int& code) {
  if (given.service_config.empty()) return true;
  code = exit_bad_configuration;
  const auto text = file_text(given.service_config);
  if (!text) return false;
  auto read = tools::read_service_config(*text);
  if (const auto* fault = std::get_if<tools::ServiceConfigFault>(&read)) {
    std::fprintf(stderr, "%s\n", to_line(*fault, given.service_config).c_str());
    return false;
  }
  auto& config = std::get<tools::ServiceConfig>(read);
  subjects.push_back(tools::subject_of(config));
  report.client =
      tools::ComparedClient{given.service_config, std::move(config.sentences), std::move(config.throttling),
                            routes[routes.size() - 1].policy.budget};
  report.notes = std::move(config.notes);
  return true;
}

// Prints an error and returns false if a service config is given, but no kind of request is a gRPC call.
bool has_calls_for_service_config(const SimulateArguments& given, std::span<const tools::RequestKind> kinds) {
  const bool calls = std::any_of(kinds.begin(), kinds.end(), [](const auto& kind) { return kind.call; });
  if (given.service_config.empty() || calls) return true;
  std::fprintf(stderr, "reprise simulate: --service-config applies only to gRPC calls, and %s\n",
               given.log.empty() ? "the mix has none: add --mix \"GRPC shop.Catalog/GetItem 100%\""
                                 : "the log has none: replay the log of a reprise that carries calls");
  return false;
}

// Returns true if the terminal's character set is UTF-8. In other sets, block characters would be garbled.
bool shows_blocks() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string value = variable_now(name).value_or("");
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

bool write_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  good = file != nullptr && std::fclose(file) == 0 && good;
  if (!good) {
    const std::string why = std::generic_category().message(errno);
    std::fprintf(stderr, "reprise simulate: cannot write %s: %s\n", path.c_str(), why.c_str());
  }
  return good;
}

int print(const SimulateArguments& given, const tools::Report& report) {
  if (!given.html.empty() && !write_file(given.html, tools::to_html(report))) return exit_runtime;
  if (!given.svg.empty() && !write_file(given.svg, tools::to_svg(report))) return exit_runtime;
  const tools::TextStyle style{::isatty(STDOUT_FILENO) == 1 && variable_now("NO_COLOR").value_or("").empty(),
                               shows_blocks()};
  const std::string text = given.format == "json" ? tools::to_json(report) : tools::to_text(report, style);
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return exit_ok;
  std::fprintf(stderr, "reprise simulate: cannot write: %s\n",
               std::generic_category().message(errno).c_str());
  return exit_runtime;
}

/// Returns the requested model. If the model is invalid, prints why, sets the exit `code`, and returns
/// nothing.
std::optional<tools::Model> model_of(const tools::ModelArguments& given, int& code) {
  code = exit_bad_configuration;
  const auto text = given.file.empty() ? std::string() : file_text(given.file);
  if (!text) return std::nullopt;
  auto model = tools::model_of(given, *text);
  const auto* fault = std::get_if<tools::ModelFault>(&model);
  if (fault == nullptr) return std::get<tools::Model>(std::move(model));
  for (const std::string& line : fault->lines) std::fprintf(stderr, "%s\n", line.c_str());
  if (!fault->in_file) code = exit_usage;
  return std::nullopt;
}

std::string configuration_text(const SimulateArguments& given) {
  return given.config.empty() ? "the built-in defaults" : given.config;
}

int simulate_model(const SimulateArguments& given, const config::Settings& settings) {
  int code = exit_ok;
  const auto model = model_of(given.model, code);
  if (!model) return code;
  auto subjects = subjects_of(given, *settings.routes, code);
  if (!subjects) return code;
  tools::Report report;
  if (!add_service_config(given, *settings.routes, *subjects, report, code)) return code;
  if (!has_calls_for_service_config(given, model->mix)) return exit_usage;
  report.configuration = configuration_text(given);
  report.duration = model->duration;
  report.model = *model;
  ShareProgress line("reprise simulate", subjects->size(), tools::expected_requests(*model));
  tools::RunOptions options = tools::options_for(*model);
  options.progress = [&](std::uint64_t requests) { line.update(requests); };
  for (const tools::Subject& subject : *subjects) {
    tools::ModelledWorld world(*model);
    report.compared.push_back({subject.name, subject.sentence, tools::run(subject, world, options), {}});
    line.next_run();
  }
  line.clear();
  return print(given, report);
}

/// Returns the parsed access log. If the log cannot be read, prints why and returns nothing.
std::optional<tools::ReplayLog> log_of(const SimulateArguments& given,
                                       const std::vector<tools::Subject>& subjects) {
  std::vector<const policy::RouteTable*> tables;
  tables.reserve(subjects.size());
  for (const tools::Subject& subject : subjects) tables.push_back(&subject.routes);
  std::ifstream opened;
  errno = 0;
  if (given.log != "-") opened.open(given.log, std::ios::binary);
  // Opening a folder succeeds; only reading from it fails.
  if (given.log != "-" && (!opened || opened.peek() == std::ifstream::traits_type::eof()) && errno != 0) {
    std::fprintf(stderr, "reprise simulate: cannot read %s: %s\n", given.log.c_str(),
                 std::generic_category().message(errno).c_str());
    return std::nullopt;
  }
  opened.clear();
  auto read = tools::read_log(given.log == "-" ? std::cin : opened, tables, given.lenient);
  if (const auto* fault = std::get_if<tools::LogFault>(&read)) {
    const std::string line = fault->line == 0 ? std::string() : ":" + std::to_string(fault->line);
    std::fprintf(stderr, "%s%s: error: %s\n", given.log.c_str(), line.c_str(), fault->why.c_str());
    return std::nullopt;
  }
  auto& log = std::get<tools::ReplayLog>(read);
  if (log.half_line) {
    std::fprintf(stderr, "%s:%llu: warning: the last line is incomplete and was left out\n",
                 given.log.c_str(), static_cast<unsigned long long>(log.lines));
  }
  return std::move(log);
}

int simulate_replay(const SimulateArguments& given, const config::Settings& settings) {
  int code = exit_ok;
  auto subjects = subjects_of(given, *settings.routes, code);
  if (!subjects) return code;
  tools::Report report;
  if (!add_service_config(given, *settings.routes, *subjects, report, code)) return code;
  const auto model = model_of(given.model, code);  // a replay uses only the model's seed
  if (!model) return code;
  const auto log = log_of(given, *subjects);
  if (!log || !has_calls_for_service_config(given, log->kinds)) return exit_usage;
  report.configuration = configuration_text(given);
  report.duration = log->duration;
  report.replayed = tools::Replayed{given.log == "-" ? "standard input" : given.log,
                                    log->lines,
                                    log->requests.size(),
                                    log->other_lines,
                                    log->bad_lines,
                                    log->left_out};
  report.compared.push_back({"as it was", "as recorded in the log", tools::as_logged(*log), {}});
  ShareProgress line("reprise simulate", 2 * subjects->size(), static_cast<double>(log->requests.size()));
  tools::RunOptions options;
  options.seed = model->seed;
  options.duration = log->duration;
  options.progress = [&](std::uint64_t requests) { line.update(requests); };
  const auto play = [&](const tools::Subject& subject, tools::Beyond beyond) {
    tools::RecordedWorld world(*log, beyond);
    tools::Measures measures = tools::run(subject, world, options);
    line.next_run();
    return measures;
  };
  for (const tools::Subject& subject : *subjects) {
    report.compared.push_back({subject.name, subject.sentence, play(subject, tools::Beyond::repeat),
                               play(subject, tools::Beyond::recover)});
  }
  line.clear();
  return print(given, report);
}

// Returns the first model option on the command line. Model options are not valid in a replay, because the
// log determines requests and responses.
std::optional<std::string> model_option(const SimulateArguments& given) {
  if (!given.model.file.empty()) return "model";
  for (const auto& [name, texts] : given.model.values) {
    if (!texts.empty()) return name;
  }
  return std::nullopt;
}

int simulate_command(const SimulateArguments& given) {
  const auto odd = model_option(given);
  if (!given.log.empty() && odd) {
    std::fprintf(
        stderr,
        "reprise simulate: --replay and --%s cannot be combined: the log determines requests and responses\n",
        odd->c_str());
    return exit_usage;
  }
  if (given.log.empty() && given.lenient) {
    std::fputs("reprise simulate: --lenient needs --replay: it is about lines of the log\n", stderr);
    return exit_usage;
  }
  const config::Loaded loaded = load_configuration(given.config);
  if (!loaded.settings) return exit_bad_configuration;
  return given.log.empty() ? simulate_model(given, *loaded.settings)
                           : simulate_replay(given, *loaded.settings);
}

/// Returns the words that name policies, separated by commas, for shell completion.
std::string joined_words() {
  std::string text;
  for (const std::string_view word : tools::policy_words()) text.append(text.empty() ? "" : ",").append(word);
  return text;
}

}  // namespace

void add_simulate(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand(
      "simulate", "try a configuration against a simulated upstream or a recorded access log");
  const auto given = std::make_shared<SimulateArguments>();
  command->add_option("-c,--config", given->config, "configuration file (default: the built-in defaults)");
  command
      ->add_option(
          "--policy", given->policies,
          "policies to compare: none, immediate, no-jitter, no-budget, config, or another configuration "
          "file; repeatable or comma-separated (default: all five; with --replay: none, no-budget, config)")
      ->type_name("WORD:{" + joined_words() + "}")
      ->allow_extra_args(false);
  command->add_option(
      "--service-config", given->service_config,
      "also compare with a gRPC client that has the service config in this JSON file (retryPolicy, "
      "hedgingPolicy)");
  command->add_option("--replay", given->log,
                      "replay this access log (JSON form; - is standard input) instead of using a model");
  command->add_flag("--lenient", given->lenient, "skip and count log lines that cannot be read");
  command->add_option("--format", given->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->add_option("--html", given->html, "write a report with charts to this file");
  command->add_option("--svg", given->svg, "write one chart to this file: the load under each policy");
  command->add_option("--model", given->model.file,
                      "YAML file with the keys below; options on the command line win over it");
  command->add_option("--seed", given->model.seed,
                      "seed of the random numbers (default 1): the same seed gives the same output");
  for (const tools::ModelKey& key : tools::model_keys()) {
    const std::string name(key.name);
    command->add_option("--" + name, given->model.values[name], std::string(key.sentence))
        ->allow_extra_args(false);
  }
  command->footer("reprise simulate -c reprise.yaml --rate 200/s --outage 10s+5s --html report.html");
  command->callback([given, &code] { code = simulate_command(*given); });
}

}  // namespace reprise::cli
