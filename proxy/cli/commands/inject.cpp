#include "proxy/tools/inject/inject.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>
#include <vector>

#include "config/load.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/configuration.hpp"

namespace reprise::cli {
namespace {

struct InjectArguments {
  std::string file;
  tools::Options options;
  std::string config_file;
  bool removes = false;
};

constexpr std::size_t largest_manifest = std::size_t{64} * 1024 * 1024;
// Maximum size of a configuration that becomes an annotation of the pod. Kubernetes limits all annotations of
// a pod together to 256 KiB. The lower maximum leaves room for other annotations.
constexpr std::size_t largest_config = std::size_t{200} * 1024;

/// Returns the content of the file. If the file cannot be read, prints why and returns nothing.
std::optional<std::string> contents(const std::string& path, std::size_t largest, const char* as_text,
                                    const char* what) {
  errno = 0;
  std::ifstream opened;
  if (path != "-") opened.open(path, std::ios::binary);
  std::istream& file = path == "-" ? std::cin : opened;
  std::string text;
  std::string block(std::size_t{256} * 1024, '\0');
  while (file.good() && text.size() <= largest) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
  }
  // Opening a folder succeeds; only reading from it fails.
  if (errno != 0 || !file.eof() || text.size() > largest) {
    const std::string why = text.size() > largest ? std::string("the file is larger than ") + as_text
                                                  : std::generic_category().message(errno == 0 ? EIO : errno);
    print_on_stderr(config::LogLevel::error, "reprise inject: cannot read " + path + ": " + why +
                                                 "; name a " + what + ", or - for standard input");
    return std::nullopt;
  }
  return text;
}

config::LogLevel level_of(std::string_view severity) {
  if (severity == "error") return config::LogLevel::error;
  return severity == "note" ? config::LogLevel::info : config::LogLevel::warn;
}

/// Prints a message about a file, without a line number.
void print_remark(const std::string& path, const char* severity, const std::string& message) {
  print_on_stderr(level_of(severity), path + ": " + severity + ": " + message);
}

void print_remark(const std::string& path, const tools::Remark& remark, const char* severity) {
  print_on_stderr(level_of(severity), path + ":" + std::to_string(remark.line) + ":" +
                                          std::to_string(remark.column) + ": " + severity + ": document " +
                                          std::to_string(remark.document) + ": " + remark.message);
}

/// Prints the changed file, or the reason why the file was not changed. Returns the exit code.
template <typename Done>
int print(const std::string& path, const std::variant<Done, tools::Remark>& outcome, const char* unchanged) {
  if (const auto* refused = std::get_if<tools::Remark>(&outcome)) {
    print_remark(path, *refused, "error");
    return exit_runtime;
  }
  const Done& done = std::get<Done>(outcome);
  if (std::fwrite(done.text.data(), 1, done.text.size(), stdout) != done.text.size() ||
      std::fflush(stdout) != 0) {
    print_on_stderr(config::LogLevel::error,
                    "reprise inject: cannot write: " + std::generic_category().message(errno));
    return exit_runtime;
  }
  for (const tools::Remark& remark : done.remarks)
    print_remark(path, remark, remark.is_note ? "note" : "warning");
  if (unchanged != nullptr) print_remark(path, "note", std::string(unchanged) + ": nothing was changed");
  return exit_ok;
}

/// Prints those notes about the file that have no line number.
void print_file_notes(const InjectArguments& given, const tools::Injected& done) {
  if (done.pods > 0 && !given.options.config_map) {
    for (const std::string& name : done.config_maps) {
      if (done.config_maps_there.contains(name)) continue;
      print_remark(
          given.file, "note",
          "the pods wait in Init:0/1 until their namespace has a ConfigMap " + name +
              " with the key reprise.yaml; --config FILE puts the configuration into the pods instead");
    }
  }
  if (done.others.empty() || done.pods + done.already + done.passed_over == 0) return;
  std::string kinds;
  for (const auto& [kind, count] : done.others)
    kinds.append(kinds.empty() ? "" : ", ").append(std::to_string(count)).append(" ").append(kind);
  print_remark(given.file, "note", "left unchanged, because they do not run pods: " + kinds);
}

/// Returns true if the sidecar can use the configuration. Prints the problems of the configuration. The
/// variables in the configuration have been replaced with the values that they have in this process.
bool is_usable(const config::Loaded& loaded, const std::string& file) {
  print_problems(loaded, file);
  if (!loaded.settings) return false;
  const config::Settings& settings = *loaded.settings;
  const bool has_listener =
      std::any_of(settings.listeners.begin(), settings.listeners.end(), [](const config::Listener& one) {
        return one.mode == config::ListenerMode::forward && one.bind.port == 3128;
      });
  if (!has_listener)
    print_remark(file, "warning",
                 "the proxy variables of the containers name 127.0.0.1:3128, but this configuration has no "
                 "forward listener on that port");
  if (settings.admin.bind.port != 3129 || !settings.admin.allow_remote)
    print_remark(file, "warning",
                 "the probes connect to port 3129 of the pod's address, but this configuration does not "
                 "serve it: write admin: {bind: 0.0.0.0:3129, allow_remote: true}");
  return true;
}

/// Reads the configuration that will be put into the pods. Returns an exit code if the configuration cannot
/// be used, and nothing on success.
std::optional<int> read_config(InjectArguments& given) {
  if (given.config_file.empty()) return std::nullopt;
  const auto text =
      contents(given.config_file, largest_config,
               "200 KiB, and Kubernetes allows 256 KiB for all annotations of a pod: use a ConfigMap",
               "configuration");
  if (!text) return exit_runtime;
  if (!is_usable(config::load_text(*text, variable_now), given.config_file)) return exit_bad_configuration;
  given.options.config = *text;
  return std::nullopt;
}

int inject_file(InjectArguments& given) {
  const std::optional<std::string> text = contents(given.file, largest_manifest, "64 MiB", "manifest");
  if (!text) return exit_runtime;
  if (given.removes) {
    const auto outcome = tools::remove(*text);
    const auto* done = std::get_if<tools::Removed>(&outcome);
    const bool none = done != nullptr && done->pods == 0;
    return print(given.file, outcome, none ? "no pod has a sidecar that `reprise inject` added" : nullptr);
  }
  if (const auto code = read_config(given)) return *code;
  const auto outcome = tools::inject(*text, given.options, REPRISE_VERSION);
  const auto* done = std::get_if<tools::Injected>(&outcome);
  const bool none = done != nullptr && done->pods + done->already + done->passed_over == 0;
  const int code = print(given.file, outcome, none ? "the file has no workload" : nullptr);
  if (done != nullptr && code == exit_ok) print_file_notes(given, *done);
  return code;
}

/// Returns a validator that calls `judge`. If `judge` returns a text, the validator rejects the command line
/// with this text as the error.
CLI::Validator judged_by(std::optional<std::string> (*judge)(std::string_view)) {
  return CLI::Validator([judge](const std::string& text) { return judge(text).value_or(""); }, "");
}

CLI::Option* add_resources(CLI::App& command, const std::string& name, tools::Resources& into,
                           const std::string& says) {
  return command.add_option_function<std::string>(
      name,
      [name, &into](const std::string& text) {
        auto resources = tools::read_resources(text);
        if (const auto* wrong = std::get_if<std::string>(&resources))
          throw CLI::ValidationError(name, *wrong);
        into = std::get<tools::Resources>(std::move(resources));
      },
      says);
}

/// Adds the options that describe the sidecar. None of them can be combined with --remove.
std::vector<CLI::Option*> add_sidecar_options(CLI::App& command, InjectArguments& given) {
  tools::Options& options = given.options;
  std::vector<CLI::Option*> all{
      command.add_option("--image", options.image, "image of reprise (default reprise:" REPRISE_VERSION ")"),
      command.add_option("--image-pull-policy", options.pull_policy, "Always, IfNotPresent or Never")
          ->check(judged_by(tools::fault_of_pull_policy)),
      command.add_option("--pull-secret", options.pull_secret, "Secret for pulling the image"),
      command
          .add_option("--run-as-user", options.user,
                      "numeric user id, or none if the namespace assigns one (default 65532)")
          ->check(judged_by(tools::fault_of_user)),
      add_resources(command, "--requests", options.requests,
                    "resource requests of the sidecar (default cpu=20m,memory=32Mi, or the limits in a "
                    "Guaranteed pod)"),
      add_resources(
          command, "--limits", options.limits,
          "resource limits of the sidecar (default memory=192Mi; in a Guaranteed pod, also cpu=100m)")};
  CLI::Option* config_map =
      command.add_option("--config-map", options.config_map,
                         "ConfigMap that has the configuration in its key reprise.yaml (default reprise)");
  all.push_back(config_map);
  all.push_back(
      command
          .add_option(
              "--config", given.config_file,
              "configuration file to store in an annotation of the pods, so that no ConfigMap is needed")
          ->excludes(config_map));
  all.push_back(command.add_flag(
      "--label", options.has_label,
      "add the label reprise.dev/inject: \"true\", which podmonitor.yaml and networkpolicy.yaml select"));
  all.push_back(command.add_flag("--scrape", options.is_scraped,
                                 "add the annotations prometheus.io/scrape and prometheus.io/port"));
  return all;
}

}  // namespace

void add_inject(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("inject", "add reprise to the pods of a Kubernetes manifest, and print the result");
  const auto given = std::make_shared<InjectArguments>();
  command
      ->add_option("-f,--file,file", given->file,
                   "manifest with any number of documents; - is standard input")
      ->required();
  const CLI::Option* remove =
      command->add_flag("--remove", given->removes,
                        "remove the sidecar, its volumes and the proxy variables; other sidecars stay");
  const std::vector<CLI::Option*> others = add_sidecar_options(*command, *given);
  command->footer("reprise inject -f app.yaml | kubectl apply -f -");
  command->callback([given, remove, others, &code] {
    for (const CLI::Option* other : others)
      if (given->removes && other->count() > 0)
        throw CLI::ExcludesError(remove->get_name(), other->get_name());
    code = inject_file(*given);
  });
}

}  // namespace reprise::cli
