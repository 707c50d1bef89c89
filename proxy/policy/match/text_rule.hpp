// What the text of a value has to be: anything, exactly this, or like one of some patterns.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::policy {

/// `equals` and `matches` of a predicate; never both. With neither, any value that is not empty will do.
struct TextRule {
  std::optional<std::string> equals = {};
  std::vector<std::string> matches = {};  ///< any of these; `*` stands for any characters, or none

  /// False: the text is of no account.
  bool reads_text() const { return equals.has_value() || !matches.empty(); }
  /// Case-sensitive. Takes at most one pass over the text for each pattern.
  bool holds(std::string_view text) const;
  bool operator==(const TextRule&) const = default;
};

}  // namespace reprise::policy
