// All keys of the model: the same key and value on the command line and in a model file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

struct ModelKey {
  std::string_view name;      ///< `rate`; on the command line it is --rate
  std::string_view sentence;  ///< what it is, and how to write it
  bool repeats = false;       ///< may be given several times; the first one replaces the default
  /// Parses the text and sets the value in the model, or adds it if the key repeats. If the text is invalid,
  /// returns why: the rest of a sentence that begins with the text and says what to write.
  std::optional<std::string> (*put)(Model&, std::string_view text) = nullptr;
  /// Removes the default. Only for keys that repeat.
  void (*clear)(Model&) = nullptr;
};

/// Returns the keys in the order of the help.
std::span<const ModelKey> model_keys();
/// Returns null if there is no such key.
const ModelKey* find_model_key(std::string_view name);

/// Returns the latency as it is written in a model, for reports.
std::string latency_text(const Latency&);

}  // namespace reprise::tools
