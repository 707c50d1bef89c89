// What is wrong with the files that a configuration names, each with the place of its key.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::cli {

/// Reads them all, and makes a file where request bodies go. `file`: the configuration's name, for the
/// commands that messages name. Precondition: the configuration has settings. In the order of the file.
std::vector<config::Problem> problems_of_files(const config::Loaded&, const std::string& file);

/// What this process can use and the service may not be able to, for `check` as root: a key that belongs to
/// root.
std::vector<config::Problem> warnings_of_files(const config::Loaded&);

/// The errors as lines, or `otherwise` alone if every file can be used now.
std::vector<std::string> lines_of_files(const config::Loaded&, const std::string& file,
                                        const std::string& otherwise);

/// A line with a text that begins with a key and a colon, and with the place of that key.
std::string line_of_file(const config::Loaded&, const std::string& file, const std::string& text);

}  // namespace reprise::cli
