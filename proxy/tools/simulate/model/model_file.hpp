// Reads a model from a YAML file, from command-line options, or from both. The file and the options have the
// same keys and values.
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

/// Sets the values that `text`, the content of a model file, gives for the model. Adds each error to the
/// report, with its position in the text.
void read_model(std::string_view text, Model&, config::Report&);

/// The command-line arguments that describe the model, as text.
struct ModelArguments {
  std::string file;  ///< name of the file; empty if there is none
  std::map<std::string, std::vector<std::string>, std::less<>> values;  ///< the values of each key
  std::optional<std::string> seed;
};

/// The reasons why the model could not be read.
struct ModelFault {
  /// The error messages; each one names the place in the file, or the option.
  std::vector<std::string> lines;
  bool in_file = false;  ///< true if the fault is in the file, false if it is on the command line
};

/// Returns the model: the defaults, overridden by the text of the file, overridden by the options.
std::variant<Model, ModelFault> model_of(const ModelArguments&, std::string_view text);

}  // namespace reprise::tools
