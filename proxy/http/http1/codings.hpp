// Transfer-Encoding: what its fields list, and why that is refused.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/rejection.hpp"

namespace reprise::http {

/// The Transfer-Encoding fields of one head, views into it.
struct Codings {
  unsigned count = 0;     ///< fields of a request; of a response, with `identity` taken out
  std::string_view last;  ///< the value of the last of them
  bool identity = false;  ///< a response's listed `identity`

  void add(std::string_view value) { ++count, last = value; }
  /// The same for a response: the member `identity`, a word of old RFCs, counts as not there. What stands
  /// beside it does, empty members too.
  void add_but_identity(std::string_view value);
  /// Nothing if they are exactly one `chunked`, in any case (RFC 9112 7); 501 only where every member is a
  /// coding that exists.
  std::optional<Rejection> judge() const;
};

/// The first coding in the Transfer-Encoding fields that is not `chunked`, as a text that lives for ever and
/// holds no byte of the message (row H9).
std::string_view unsupported_coding(std::span<const FieldLine>);

}  // namespace reprise::http
