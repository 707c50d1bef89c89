// Splits the scheme, authority and path of a request target by hand, so that its bytes stay unchanged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/http/message/rejection.hpp"

namespace reprise::http {

/// The host and port of an authority (RFC 3986 3.2), as views into its text.
struct Authority {
  std::string_view host;   ///< without brackets
  std::uint16_t port = 0;  ///< as written, or the default port
  bool literal_v6 = false;
  bool port_written = false;
};

/// Splits an authority into host and port. Rejects userinfo, port 0 or above 65535, zone ids, two ports,
/// unclosed brackets, a host over 253 bytes, a label over 63 bytes, an empty host, commas and other bytes
/// that are not allowed in a host (rows A12, A13). The port is required if `default_port` is 0 (CONNECT).
std::variant<Authority, Rejection> split_authority(std::string_view text, std::uint16_t default_port);

struct Target {
  bool https = false;
  std::string_view authority;  ///< as written
  Authority origin;
  std::string_view path;   ///< raw; empty if the target has no path ("/" is sent then)
  std::string_view query;  ///< raw, without '?'
  /// Text to send upstream, without fragment; may be empty or start with '?'.
  std::string_view path_and_query;
};

/// Splits `http://host[:port][/path][?query]`. Treats ws as http, and wss as https. Rejects other schemes
/// with bad_scheme.
std::variant<Target, Rejection> split_absolute(std::string_view target);
/// Splits an origin-form target (`/path?query`, or `*`). `authority` and `origin` stay empty.
std::variant<Target, Rejection> split_origin(std::string_view target);

/// Puts `prefix` (the path of a gateway's upstream; may be empty) before the path of the target, unless the
/// target is `*`. The target then refers to `joined`, which must outlive it.
void put_below(std::string_view prefix, Target& target, std::string& joined);

}  // namespace reprise::http
