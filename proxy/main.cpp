// The reprise program: runs one of its commands and returns the exit code.
#include <CLI/CLI.hpp>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/line/usage.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/net/tls/cleared_memory.hpp"
#include "proxy/server/process/signals.hpp"

namespace {

void print_error(const std::string& text) {
  reprise::cli::print_on_stderr(reprise::config::LogLevel::error, text);
}

}  // namespace

int main(int argc, char** argv) {
  reprise::net::clear_openssl_memory();
  // The commands `run` and `demo` run until a signal ends them. Sets their signal handling first, so that a
  // signal during startup ends them too.
  if (const std::string_view command = argc > 1 ? argv[1] : ""; command == "run" || command == "demo")
    reprise::server::end_at_signals();
  CLI::App app{"reprise: retries for applications that cannot retry", "reprise"};
  app.require_subcommand(1);
  int code = 0;
  // Removes `--` and the command of `exec` from the arguments, so that the command's options are not parsed
  // as options of reprise.
  std::vector<std::string> child;
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[1]) != "exec" || std::string_view(argv[i]) != "--") continue;
    child.assign(argv + i + 1, argv + argc);
    argc = i;
  }
  reprise::cli::add_run(app, code);
  reprise::cli::add_exec(app, code, child);
  reprise::cli::add_env(app, code);
  reprise::cli::add_ca(app, code);
  reprise::cli::add_redirect(app, code);
  reprise::cli::add_inject(app, code);
  reprise::cli::add_control(app, code);
  reprise::cli::add_top(app, code);
  reprise::cli::add_check(app, code);
  reprise::cli::add_config(app, code);
  reprise::cli::add_explain(app, code);
  reprise::cli::add_simulate(app, code);
  reprise::cli::add_reasons(app, code);
  reprise::cli::add_log_format(app, code);
  reprise::cli::add_demo(app, code);
  reprise::cli::add_completion(app, code);
  reprise::cli::add_man(app, code);
  reprise::cli::add_version(app, code);
  reprise::cli::add_help(app, code);
  // Checks for an unknown command here, because CLI11 would only report that a command is required.
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (!first.empty() && !first.starts_with('-') && reprise::cli::find_command(app, first) == nullptr) {
    print_error("reprise: " + reprise::cli::unknown_command(app, first));
    return reprise::cli::exit_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 throws also for --help, which is not an error.
    if (error.get_exit_code() == 0) return app.exit(error);
    print_error(reprise::cli::wrong_use(app, error));
    return reprise::cli::exit_usage;
  } catch (const std::exception& error) {
    print_error(std::string("reprise: ") + error.what());
    return reprise::cli::exit_runtime;
  }
  return code;
}
