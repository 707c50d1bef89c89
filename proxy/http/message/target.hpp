// Where a request wants to go: scheme, authority and path
// split by hand, so that the target's bytes stay untouched.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/http/message/rejection.hpp"

namespace reprise::http {

/// host and port of an authority (RFC 3986 3.2), views into its text.
struct Authority {
  std::string_view host;   ///< without brackets
  std::uint16_t port = 0;  ///< as written, or the default that was given
  bool literal_v6 = false;
  bool port_written = false;
};

/// Rejects userinfo, port 0 or above 65535, zone ids, two ports, unclosed brackets, host over 253 or label
/// over 63 bytes, empty host, commas and other bytes that no host has (rows A12, A13). `default_port` 0 makes
/// the port mandatory (CONNECT).
std::variant<Authority, Rejection> split_authority(std::string_view text, std::uint16_t default_port);

struct Target {
  bool https = false;
  std::string_view authority;  ///< as written
  Authority origin;
  std::string_view path;            ///< raw; "" where the target has none (then "/" is sent)
  std::string_view query;           ///< raw, without '?'
  std::string_view path_and_query;  ///< what goes upstream, without fragment; may be "" or start with '?'
};

/// Splits `http://host[:port][/path][?query]`; ws is taken as http, wss as https. Other schemes: bad_scheme.
std::variant<Target, Rejection> split_absolute(std::string_view target);
/// Splits an origin-form target (`/path?query`, or `*`). `authority` and `origin` stay empty.
std::variant<Target, Rejection> split_origin(std::string_view target);

}  // namespace reprise::http
