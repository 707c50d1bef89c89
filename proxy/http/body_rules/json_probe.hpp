// Looks into a JSON body for one key, at its top or down a path, without building a tree (clauses R33c, R36).
#pragma once

#include <string_view>

#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/match/text_rule.hpp"

namespace reprise::http {

/// A wholly held body. Parsed anew at each question, by Boost.JSON; bad JSON has no keys.
class JsonText final : public policy::JsonBody {
 public:
  explicit JsonText(std::string_view text) : text_(text) {}
  /// True for a top-level key of an object whose value is neither null nor an empty string, array or object.
  /// A repeated key counts by its last value.
  bool has(std::string_view key) const override;
  /// The same at the end of a dotted path of keys, through objects alone; where the rule reads a text, true
  /// for a string that is not empty, a number (as it is written) or a boolean of which it holds.
  bool has_at(std::string_view path, const policy::TextRule&) const;

 private:
  std::string_view text_;
};

}  // namespace reprise::http
