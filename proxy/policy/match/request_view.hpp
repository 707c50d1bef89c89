// The parts of a request that routes and idempotency rules look at; it borrows, and owns nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::policy {

/// Field lines of a request, as whoever parsed them can answer.
class FieldLines {
 public:
  /// True if a field of that name (case-insensitive) has, after trimming blanks, exactly `value`, or, where
  /// `value` is empty, any value that is not empty.
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
  bool changes_protocol = false;  ///< asks for another protocol than HTTP on this connection (RFC 9110 7.8)
};

}  // namespace reprise::policy
