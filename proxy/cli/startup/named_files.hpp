// Problems of the files that a configuration names, each with the place of its key.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"

namespace reprise::cli {

/// Reads every file and creates one in the folder for request bodies. Returns the problems in the order of
/// the configuration. `file` is the name of the configuration, for the commands in messages. Precondition:
/// the configuration has settings.
std::vector<config::Problem> problems_of_files(const config::Loaded&, const std::string& file);

/// Returns warnings about files that this process can use but the service perhaps cannot, such as a key that
/// belongs to root. For `check` run as root.
std::vector<config::Problem> warnings_of_files(const config::Loaded&);

/// Returns the errors as lines, or only `otherwise` if every file can be used now.
std::vector<std::string> lines_of_files(const config::Loaded&, const std::string& file,
                                        const std::string& otherwise);

/// Returns a line with the text and the place of its key. `text` begins with the key and a colon.
std::string line_of_file(const config::Loaded&, const std::string& file, const std::string& text);

}  // namespace reprise::cli
