// What Connection names: the options that end with this hop (RFC 9110 7.6.1).
#pragma once

#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/token_set.hpp"

namespace reprise::http {

/// The field names listed in the Connection fields of one head. Views into the head. Allocates only where
/// Connection names something unusual.
class NamedByConnection {
 public:
  explicit NamedByConnection(const std::vector<FieldLine>& fields);

  /// True if Connection names that field; false for the options of every day.
  bool lists(std::string_view name) const;
  /// True if the field of that name ends here. Never for end-to-end fields that Connection must not name:
  /// framing, routing, credentials, caching.
  bool removes(std::string_view name) const;

 private:
  TokenSet names_;
};

}  // namespace reprise::http
