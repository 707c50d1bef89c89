// Searches a JSON body for the value at a key or a path of keys, without building a tree (clauses R33c, R36).
#pragma once

#include <string_view>

#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/match/text_rule.hpp"

namespace reprise::http {

/// A completely held JSON body. Each query parses it again with Boost.JSON. Malformed JSON has no keys.
class JsonText final : public policy::JsonBody {
 public:
  explicit JsonText(std::string_view text) : text_(text) {}
  /// Returns true if the text is an object with that key at its top level, and the value is not null and not
  /// an empty string, array or object. If a key is repeated, its last value counts.
  bool has(std::string_view key) const override;
  /// Returns true if the value at `path` meets the rule. `path` is a list of keys, separated by dots, that
  /// leads through objects. A rule that reads text can be met by a non-empty string, a number (as written) or
  /// a boolean. Any other rule is met by a value that is not null and not an empty string, array or object.
  /// If a key is repeated, its last value counts.
  bool has_at(std::string_view path, const policy::TextRule&) const;

 private:
  std::string_view text_;
};

}  // namespace reprise::http
