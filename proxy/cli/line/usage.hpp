// Error messages for a wrong command line. They say which command or option was probably meant, or what is
// missing.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

namespace reprise::cli {

/// Returns the command with this name. Null if there is no such command.
const CLI::App* find_command(const CLI::App&, std::string_view name);
/// Returns the message for an unknown command, with the command that was probably meant and the list of
/// commands.
std::string unknown_command(const CLI::App&, std::string_view word);

/// Returns the message for a command line that CLI11 rejected. Names the arguments in the order of the
/// command line.
std::string wrong_use(const CLI::App&, const CLI::ParseError&);

}  // namespace reprise::cli
