// The fields of an HTTP/2 header block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace reprise::http {

/// Identifies a stream of one connection (RFC 9113 5.1.1). 0 is the connection itself.
using StreamId = std::int32_t;

/// Fields that concern one HTTP/1 connection. They must not occur in HTTP/2 (RFC 9113 8.2.2).
inline constexpr std::array<std::string_view, 5> connection_fields = {
    "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};

/// `name`: in lower case.
inline bool is_connection_field(std::string_view name) {
  return std::find(connection_fields.begin(), connection_fields.end(), name) != connection_fields.end();
}

struct Field {
  std::string_view name;  ///< in lower case; begins with `:` for a pseudo-field
  std::string_view value;
  bool sensitive = false;  ///< encoded as never-indexed (RFC 7541 7.1.3, row M47)
};

/// The fields of one header block. The views refer to `names`, and to the text from which the fields were
/// made.
struct FieldBlock {
  std::vector<Field> fields;
  std::string names;
};

}  // namespace reprise::http
