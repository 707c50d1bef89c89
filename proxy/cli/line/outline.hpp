// Describes every command and option as values, for code that prints the command line in other formats.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace reprise::cli {

struct OptionOutline {
  std::vector<std::string> names;  ///< names with their dashes, or the name of a positional argument
  std::string description;
  std::vector<std::string> choices;  ///< valid values; empty if any value is valid
  bool is_positional = false;
  bool takes_value = false;
  bool is_file = false;  ///< the value is the name of a file
};

struct CommandOutline {
  std::string name;  ///< name of the command; two words for a subcommand
  std::string description;
  std::string example;  ///< an example, one shell command line
  std::vector<OptionOutline> options;
};

/// Returns every command in the order of --help. A command comes before its subcommands. Omits options that
/// --help does not show.
std::vector<CommandOutline> outline_of(const CLI::App& program);

}  // namespace reprise::cli
