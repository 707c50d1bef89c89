// Reads Transfer-Encoding and decides whether its codings are accepted.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/rejection.hpp"

namespace reprise::http {

/// The Transfer-Encoding fields of one head, as views into the head.
struct Codings {
  unsigned count = 0;     ///< number of fields; a response field that lists only `identity` is not counted
  std::string_view last;  ///< value of the last Transfer-Encoding field
  bool identity = false;  ///< a Transfer-Encoding field of a response lists `identity`

  void add(std::string_view value) { ++count, last = value; }
  /// Adds a Transfer-Encoding field of a response. Ignores its member `identity`, which older RFCs defined.
  /// Counts every other member, even an empty one.
  void add_but_identity(std::string_view value);
  /// Returns nothing if the fields are exactly one `chunked`, in any letter case (RFC 9112 7). Returns
  /// unsupported_transfer_encoding (501) if every member is a registered coding, otherwise
  /// bad_transfer_encoding.
  std::optional<Rejection> judge() const;
};

/// Returns a sentence about the first coding that is not `chunked`, or about a second `chunked`; empty if
/// neither occurs. The text is static and contains no byte of the message (row H9).
std::string_view unsupported_coding(std::span<const FieldLine>);

}  // namespace reprise::http
