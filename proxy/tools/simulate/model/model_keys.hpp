// The keys of the model. They are the same on the command line and in a model file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

struct ModelKey {
  std::string_view name;      ///< name of the key; the key `rate` is the option --rate
  std::string_view sentence;  ///< description of the key and its format
  /// The key may be given several times; its values form a list that replaces the default.
  bool repeats = false;
  /// Parses the text and sets the value in the model or, if the key repeats, adds the value. If the text is
  /// invalid, returns the reason, such as `is too high: at most 1000000/s`, which the caller writes after the
  /// text.
  std::optional<std::string> (*put)(Model&, std::string_view text) = nullptr;
  /// Removes the default values of the key. Null if the key cannot be given several times.
  void (*clear)(Model&) = nullptr;
};

/// Returns the keys in the order of the help text.
std::span<const ModelKey> model_keys();
/// Returns the key with that name. Null if there is none.
const ModelKey* find_model_key(std::string_view name);

/// Returns the latency in the format of a model, for reports.
std::string latency_text(const Latency&);

}  // namespace reprise::tools
