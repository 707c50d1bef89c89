// Finds the problems of the files that a configuration names. Each problem has the position of its key.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::cli {

/// Checks that every file named in the configuration can be read, and that a file can be created in the
/// folder for request bodies. Returns the problems in the order of the configuration. Messages suggest
/// commands that contain `file`, the name of the configuration file. Precondition: the configuration has
/// settings.
std::vector<config::Problem> problems_of_files(const config::Loaded&, const std::string& file);

/// Returns warnings about files that this process can read but the service probably cannot, such as a key
/// that only root can read. Used if `check` runs as root.
std::vector<config::Problem> warnings_of_files(const config::Loaded&);

/// Returns the problems of the files that the configuration names, as message lines. If every file can now be
/// used, returns one line with the text `otherwise`.
std::vector<std::string> lines_of_files(const config::Loaded&, const std::string& file,
                                        const std::string& otherwise);

/// Returns a message line with `text` and a position. `text` begins with a configuration key and a colon; the
/// position is that of this key.
std::string line_of_file(const config::Loaded&, const std::string& file, const std::string& text);

}  // namespace reprise::cli
