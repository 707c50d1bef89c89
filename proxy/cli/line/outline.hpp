// What the command line takes, as values: for whatever prints it in a language of its own.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace reprise::cli {

struct OptionOutline {
  std::vector<std::string> names;  ///< with their dashes; of a positional one its name alone
  std::string description;
  std::vector<std::string> choices;  ///< of its value; empty: anything
  bool is_positional = false;
  bool takes_value = false;
  bool is_file = false;  ///< its value names one
};

struct CommandOutline {
  std::string name;  ///< two words where it is below another
  std::string description;
  std::string example;  ///< a line of a shell
  std::vector<OptionOutline> options;
};

/// Every command, each that has some before those below it, in the order of --help.
std::vector<CommandOutline> outline_of(const CLI::App& program);

}  // namespace reprise::cli
