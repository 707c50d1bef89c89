// The model that is asked for: by a YAML file, by options with the same keys and texts, or by both.
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

/// Puts what the file says over the model; the report says what is wrong with it, each with its place.
void read_model(std::string_view text, Model&, config::Report&);

/// What stands on the command line, as it was given.
struct ModelArguments {
  std::string file;                                                     ///< its name; empty: none
  std::map<std::string, std::vector<std::string>, std::less<>> values;  ///< by key
  std::optional<std::string> seed;
};

/// Why there is no model.
struct ModelFault {
  std::vector<std::string> lines;  ///< what to say, each with its place
  bool in_file = false;            ///< else on the command line
};

/// The defaults, then what the text of the file says, then the options.
std::variant<Model, ModelFault> model_of(const ModelArguments&, std::string_view text);

}  // namespace reprise::tools
