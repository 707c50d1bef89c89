// Finds problems of the files that a configuration names, each with the position of its key.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::cli {

/// Checks that every named file can be read, and that a file can be created in the folder for request bodies.
/// Returns the problems in the order of the configuration. `file` is the name of the configuration file, for
/// the commands that messages suggest. Precondition: the configuration has settings.
std::vector<config::Problem> problems_of_files(const config::Loaded&, const std::string& file);

/// Returns warnings about files that this process can use but the service may not, such as a key that belongs
/// to root. Used if `check` runs as root.
std::vector<config::Problem> warnings_of_files(const config::Loaded&);

/// Returns the problems of the named files as message lines. If every file can now be used, returns one line
/// with the text `otherwise`.
std::vector<std::string> lines_of_files(const config::Loaded&, const std::string& file,
                                        const std::string& otherwise);

/// Returns a message line with the text and the position of its key. `text` begins with the key and a colon.
std::string line_of_file(const config::Loaded&, const std::string& file, const std::string& text);

}  // namespace reprise::cli
