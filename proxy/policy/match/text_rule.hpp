// A rule for a text value: any value, an exact one, or one that matches a pattern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::policy {

/// The keys `equals` and `matches` of a predicate; at most one of them is set. With neither, any non-empty
/// value meets the rule.
struct TextRule {
  std::optional<std::string> equals = {};
  std::vector<std::string> matches = {};  ///< patterns, one of which must match; `*` matches any characters

  /// Returns true if `equals` or `matches` is set, so that the text matters.
  bool reads_text() const { return equals.has_value() || !matches.empty(); }
  /// Returns true if the text meets the rule. Case-sensitive. Takes at most one pass over the text for each
  /// pattern.
  bool holds(std::string_view text) const;
  bool operator==(const TextRule&) const = default;
};

}  // namespace reprise::policy
