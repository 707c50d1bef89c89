// Searches a JSON body for one key, at its top or at the end of a path, without building a tree (clauses
// R33c, R36).
#pragma once

#include <string_view>

#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/match/text_rule.hpp"

namespace reprise::http {

/// A wholly held body. Each query parses it again with Boost.JSON. Malformed JSON has no keys.
class JsonText final : public policy::JsonBody {
 public:
  explicit JsonText(std::string_view text) : text_(text) {}
  /// Returns true for a top-level key of an object if the value is not null and not an empty string, array or
  /// object. The last value of a repeated key counts.
  bool has(std::string_view key) const override;
  /// Does the same for the key at the end of a dotted path through objects. If the rule reads a text, returns
  /// true if the rule holds for a string that is not empty, a number (as written) or a boolean.
  bool has_at(std::string_view path, const policy::TextRule&) const;

 private:
  std::string_view text_;
};

}  // namespace reprise::http
