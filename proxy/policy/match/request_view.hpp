// The parts of a request that are read by routes and idempotency rules. A view: owns nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::policy {

/// Access to the field lines of a request. The message parser implements it.
class FieldLines {
 public:
  /// Returns true if a field of that name (case-insensitive) has exactly `value` after trimming blanks. If
  /// `value` is empty, any non-empty value is enough.
  virtual bool has(std::string_view name, std::string_view value) const = 0;

 protected:
  ~FieldLines() = default;
};

struct RequestView {
  std::string_view method;
  std::string_view host;  ///< without port, as sent; compared case-insensitively
  std::uint16_t port = 0;
  std::string_view path;   ///< raw, still percent-encoded, starts with '/'
  std::string_view query;  ///< raw, without '?'
  const FieldLines* fields = nullptr;
  /// The request asks to switch this connection to a protocol other than HTTP (RFC 9110 7.8).
  bool changes_protocol = false;
  bool is_call = false;  ///< the request is a gRPC call
};

}  // namespace reprise::policy
