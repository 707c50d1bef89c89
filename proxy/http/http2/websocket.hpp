// WebSockets over HTTP/2: extended CONNECT (RFC 8441) as an upgrade of HTTP/1 (RFC 6455).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// The protocol that a request asks for in `:protocol` (RFC 8441 4).
enum class ConnectProtocol : std::uint8_t {
  none,  ///< the request has no `:protocol`
  websocket,
  other,  ///< a protocol that is not supported
};

/// Returns the key of a WebSocket request (RFC 6455 4.1): the base64 form of the random bytes.
std::string websocket_key(const std::array<unsigned char, 16>& random);
/// Returns the value of Sec-WebSocket-Accept that proves that the upstream has read the key (RFC 6455 4.2.2).
std::string websocket_accept(std::string_view key);

/// Returns why a response must not reach the client that has sent an extended CONNECT; empty if it may, or if
/// the request is of another kind. The text has static lifetime. There are two reasons:
/// - a 101 without the Sec-WebSocket-Accept of the request's key;
/// - a 2xx, which would mean to the client that the WebSocket is open.
std::string_view websocket_fault(const RequestHead&, const ResponseHead&);
/// Returns the head that an HTTP/2 client gets in place of a 101: status 200, without Sec-WebSocket-Accept.
std::string opened_websocket(const ResponseHead&);
/// Returns the 101 that replaces a 2xx with which an upstream has accepted an extended CONNECT. `head`: the
/// text of the 2xx, as ResponseText writes it. A Content-Length is omitted, because it means nothing (RFC
/// 9110 8.6).
std::string switched_websocket(std::string_view head);

}  // namespace reprise::http
