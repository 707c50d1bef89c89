// Declares the functions that add the program's commands; each command has its own file. When a command runs,
// it sets `code` to its exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "proxy/cli/line/exit_codes.hpp"

namespace reprise::cli {

void add_run(CLI::App&, int& code);
void add_check(CLI::App&, int& code);
void add_config(CLI::App&, int& code);
void add_explain(CLI::App&, int& code);
void add_simulate(CLI::App&, int& code);
void add_reasons(CLI::App&, int& code);
void add_log_format(CLI::App&, int& code);
void add_demo(CLI::App&, int& code);
void add_completion(CLI::App&, int& code);
void add_man(CLI::App&, int& code);
void add_version(CLI::App&, int& code);
void add_help(CLI::App&, int& code);
void add_env(CLI::App&, int& code);
void add_ca(CLI::App&, int& code);
void add_redirect(CLI::App&, int& code);
void add_inject(CLI::App&, int& code);
void add_top(CLI::App&, int& code);
/// Adds the commands that control a running proxy: reload, drain, quit, status, log, pause.
void add_control(CLI::App&, int& code);
/// Adds exec. `words` are the arguments after `--` on the command line. Precondition: `words` outlives the
/// parsing.
void add_exec(CLI::App&, int& code, const std::vector<std::string>& words);

}  // namespace reprise::cli
