// The fields that Connection names. They apply to this hop only (RFC 9110 7.6.1).
#pragma once

#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/token_set.hpp"

namespace reprise::http {

/// The field names listed in the Connection fields of one head, as views into the head. Allocates only if
/// Connection names an uncommon option.
class NamedByConnection {
 public:
  explicit NamedByConnection(const std::vector<FieldLine>& fields);

  /// Returns true if Connection names that field. Always false for common options such as `close`.
  bool lists(std::string_view name) const { return !names_.empty() && names_.has(name); }
  /// Returns true if that field must be removed because Connection names it. Always false for end-to-end
  /// fields that Connection must not name: framing, routing, credentials, caching.
  bool removes(std::string_view name) const {
    // Asked for every field of every message; Connection rarely names one.
    return !names_.empty() && names_.has(name) && !is_end_to_end(name);
  }

 private:
  static bool is_end_to_end(std::string_view name);

  TokenSet names_;
};

}  // namespace reprise::http
