// A request as it came: who asks for what, and where it came in.
#pragma once

#include <string_view>

#include "proxy/http/message/head.hpp"
#include "proxy/http/message/intake.hpp"
#include "proxy/net/io/clock.hpp"
#include "proxy/policy/match/request_view.hpp"

namespace reprise::forward {

/// How a request came in.
enum class RequestKind : std::uint8_t {
  forward,        ///< to a forward listener: in absolute-form, or a CONNECT
  gateway,        ///< to a gateway listener
  inside_tunnel,  ///< plain HTTP inside a CONNECT tunnel or a SOCKS connection
  intercepted,    ///< inside TLS that is terminated here
  redirected,     ///< plain HTTP on a connection that a transparent listener accepted
};

/// Views into the session that reads the requests of its connection, valid until the request has ended.
struct Incoming {
  static constexpr bool never_closed = false;

  std::string_view client;    ///< `address:port` of the client
  std::string_view listener;  ///< `forward 127.0.0.1:3128`
  /// Becomes true when the listener is closed: the response is then the connection's last.
  const bool* listener_closed = &never_closed;
  RequestKind kind = RequestKind::forward;
  http::RequestHead head;    ///< empty where the client asked for a byte stream without HTTP
  policy::RequestView view;  ///< what routes and rules match
  Instant started{};         ///< when the whole head had been read

  void clear();
};

/// Whether `Upgrade: h2c` is passed on. With HTTP2-Settings it is an offer to speak HTTP/2 (RFC 7540 3.2), as
/// Java's HttpClient makes with every request: that field is of this hop, and the request stays repeatable.
http::ToH2c to_h2c(const Incoming&);

}  // namespace reprise::forward
