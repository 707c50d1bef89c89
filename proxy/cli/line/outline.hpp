// The command line as values: every command and option, for code that prints them in other formats.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace reprise::cli {

struct OptionOutline {
  std::vector<std::string> names;  ///< with their dashes; a positional option has its plain name
  std::string description;
  std::vector<std::string> choices;  ///< choices of its value; empty for any value
  bool is_positional = false;
  bool takes_value = false;
  bool is_file = false;  ///< its value names a file
};

struct CommandOutline {
  std::string name;  ///< two words for a subcommand
  std::string description;
  std::string example;  ///< one line for a shell
  std::vector<OptionOutline> options;
};

/// Returns every command in the order of --help. A command comes before its subcommands.
std::vector<CommandOutline> outline_of(const CLI::App& program);

}  // namespace reprise::cli
