// The commands of the program, one file each; every one adds itself to
// the command line and leaves its exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::cli {

inline constexpr int exit_ok = 0;
inline constexpr int exit_runtime = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_cannot_bind = 69;
inline constexpr int exit_bad_configuration = 78;

void add_run(CLI::App&, int& code);
void add_check(CLI::App&, int& code);
void add_config(CLI::App&, int& code);
void add_explain(CLI::App&, int& code);
void add_reasons(CLI::App&, int& code);
void add_demo(CLI::App&, int& code);
void add_version(CLI::App&, int& code);
void add_env(CLI::App&, int& code);
void add_ca(CLI::App&, int& code);
void add_redirect(CLI::App&, int& code);
/// `words`: what stands behind `--`, which outlives the parsing.
void add_exec(CLI::App&, int& code, const std::vector<std::string>& words);
void add_completion(CLI::App&, int& code);
void add_man(CLI::App&, int& code);
void add_help(CLI::App&, int& code);

/// Null if there is no command of that name.
const CLI::App* find_command(const CLI::App&, std::string_view name);
/// What to say of a word in the place of a command that is none: which was meant, and which there are.
std::string unknown_command(const CLI::App&, std::string_view word);

/// What to say of a command line that CLI11 refused: in words, in the order in which its arguments came.
std::string wrong_use(const CLI::App&, const CLI::ParseError&);

}  // namespace reprise::cli
