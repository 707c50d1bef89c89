#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/startup/checked.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/startup/shortcut_options.hpp"
#include "proxy/cli/terminal/progress.hpp"

namespace reprise::cli {
namespace {

struct CheckArguments {
  std::vector<std::string> files;
  std::string format = "text";
  bool strict = false;
  std::shared_ptr<config::Flags> flags = std::make_shared<config::Flags>();
};

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

void print_result(const Checked& checked) {
  const char* const file = checked.file.c_str();
  print_problems(checked.problems, checked.file);
  for (const std::string& note : checked.notes) print_on_stderr(config::LogLevel::info, "note: " + note);
  if (checked.is_good()) {
    std::printf("%s: OK (%s)\n", file, counted(checked.routes, "route").c_str());
  } else {
    print_on_stderr(config::LogLevel::error,
                    checked.errors() > 0 ? checked.file + ": " + counted(checked.errors(), "error")
                                         : checked.file + ": " + counted(checked.warnings(), "warning") +
                                               ", which --strict treats as errors");
  }
  // Standard output and standard error may be the same file. Flushing keeps the lines in the order of the
  // checked files.
  std::fflush(stdout);
}

int check(const CheckArguments& given) {
  if (std::count_if(given.files.begin(), given.files.end(), is_standard_input) > 1) {
    std::fputs(
        "reprise check: - is given twice: standard input can be read only once; see reprise help check\n",
        stderr);
    return exit_usage;
  }
  const bool as_text = given.format == "text";
  const server::Limits limits = server::read_limits();
  std::vector<Checked> all;
  std::size_t bad = 0;
  int code = exit_ok;
  StepProgress progress(given.files.size());
  for (const std::string& file : given.files) {
    progress.step(file);
    all.push_back(check_file(file, *given.flags, limits));
    all.back().is_strict = given.strict;
    progress.clear();
    if (as_text) print_result(all.back());
    if (all.back().is_good()) continue;
    ++bad;
    code = std::max(code, all.back().code == exit_ok ? exit_bad_configuration : all.back().code);
  }
  if (!as_text) {
    std::fputs(as_json(all).c_str(), stdout);
  } else if (all.size() > 1) {
    std::printf("%zu files: %zu OK, %zu with %s\n", all.size(), all.size() - bad, bad,
                given.strict ? "errors or warnings" : "errors");
  }
  return code;
}

}  // namespace

void add_check(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("check", "report every problem in configuration files");
  const auto given = std::make_shared<CheckArguments>();
  command->add_option("-c,--config,config", given->files, "configuration files; - for standard input")
      ->required();
  command->add_option("--format", given->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->add_flag("--strict", given->strict, "treat warnings as errors (exit code 78)");
  add_shortcuts(*command, ShortcutsOf::process, given->flags);
  command->footer("reprise check -c reprise.yaml");
  command->callback([given, &code] { code = check(*given); });
}

}  // namespace reprise::cli
