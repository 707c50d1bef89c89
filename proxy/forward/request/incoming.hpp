// A request as it was received: the client, the listener, and the head.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/intake.hpp"
#include "proxy/net/io/clock.hpp"
#include "proxy/policy/match/request_view.hpp"

namespace reprise::forward {

/// The way in which a request reached this proxy.
enum class RequestKind : std::uint8_t {
  forward,        ///< absolute-form or CONNECT, on a forward listener
  gateway,        ///< any request on a gateway listener
  inside_tunnel,  ///< plain HTTP inside a CONNECT tunnel or a SOCKS connection
  intercepted,    ///< a request inside TLS that this proxy terminates
  redirected,     ///< plain HTTP on a connection of a transparent listener
};

/// Returns true if the client has addressed its request to a proxy. All other clients take this proxy for the
/// upstream.
constexpr bool addresses_a_proxy(RequestKind kind) {
  return kind == RequestKind::forward || kind == RequestKind::inside_tunnel;
}

/// Holds views into the session that reads the request. The views are valid until the request ends.
struct Incoming {
  static constexpr bool never_closed = false;

  std::string_view client;    ///< `address:port` of the client
  std::string_view listener;  ///< mode and address, such as `forward 127.0.0.1:3128`
  /// Owns what `listener` and the gateway's view of the responses refer to: another stream of the connection
  /// may take over new settings of the listener.
  std::shared_ptr<const void> listener_settings;
  /// Becomes true when the listener is closed. The current response is then the last one on this connection.
  const bool* listener_closed = &never_closed;
  RequestKind kind = RequestKind::forward;
  http::RequestHead head;  ///< empty if the client asked for a byte stream without HTTP (SOCKS, transparent)
  policy::RequestView view;  ///< the properties that routes and rules match, as the upstream gets them
  std::string
      below_upstream;  ///< target that `view` refers to if the gateway's upstream has a path of its own
  Instant started{};   ///< time at which the head was complete

  void clear();
};

/// Returns whether `Upgrade: h2c` is passed on or dropped. An offer of HTTP/2 with HTTP2-Settings (RFC 7540
/// 3.2) concerns this hop only, and Java's HttpClient makes such an offer with every request. Therefore it is
/// dropped, and the request stays repeatable. On forward listeners and inside tunnels, `h2c` is always
/// dropped.
http::ToH2c to_h2c(const Incoming&);

}  // namespace reprise::forward
