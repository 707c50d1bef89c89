// The commands that speak of the program itself: whatever else there is, they print it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace reprise::cli {

void add_completion(CLI::App&, int& code);
/// `reference`: the page of the configuration in Markdown, from which reprise.yaml(5) is made.
void add_man(CLI::App&, int& code, std::string (*reference)());
void add_log_format(CLI::App&, int& code);
void add_version(CLI::App&, int& code);
void add_help(CLI::App&, int& code);

}  // namespace reprise::cli
