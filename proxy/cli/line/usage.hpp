// What is said of a command line that is wrong: which command or option was meant, and what is missing.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace reprise::cli {

/// Null if there is no command of that name.
const CLI::App* find_command(const CLI::App&, std::string_view name);
/// What to say of a word in the place of a command that is none: which was meant, and which there are.
std::string unknown_command(const CLI::App&, std::string_view word);

/// What to say of a command line that CLI11 refused: in words, in the order in which its arguments came.
std::string wrong_use(const CLI::App&, const CLI::ParseError&);

}  // namespace reprise::cli
