// Every key of the model: the same word and the same text on the command line and in a model file.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

struct ModelKey {
  std::string_view name;      ///< `rate`: --rate on the command line
  std::string_view sentence;  ///< what it is, and how it is written
  bool repeats = false;       ///< may be given several times; what is given first replaces the default
  /// Puts the text's value into the model, or says why it is none: a sentence that goes on from the text, and
  /// says what to write. What repeats is added.
  std::optional<std::string> (*put)(Model&, std::string_view text) = nullptr;
  /// Takes the default away; only of what repeats.
  void (*clear)(Model&) = nullptr;
};

/// In the order of the help.
std::span<const ModelKey> model_keys();
/// Null: there is none of that name.
const ModelKey* find_model_key(std::string_view name);

/// How it is written: for reports.
std::string latency_text(const Latency&);

}  // namespace reprise::tools
