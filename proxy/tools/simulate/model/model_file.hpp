// Reads a model from a YAML file, from command-line options with the same keys and values, or from both.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/yaml/report.hpp"
#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

/// Overrides values of the model with those in the file. Adds each error, with its place, to the report.
void read_model(std::string_view text, Model&, config::Report&);

/// The arguments of the command line, unparsed.
struct ModelArguments {
  std::string file;  ///< name of the file; empty if there is none
  std::map<std::string, std::vector<std::string>, std::less<>> values;  ///< by key
  std::optional<std::string> seed;
};

/// Why the model could not be read.
struct ModelFault {
  std::vector<std::string> lines;  ///< the messages, each with its place
  bool in_file = false;            ///< if false, the fault is on the command line
};

/// Returns the defaults, overridden by the text of the file, overridden by the options.
std::variant<Model, ModelFault> model_of(const ModelArguments&, std::string_view text);

}  // namespace reprise::tools
