// Decides from a request's head where the request goes, by which route and with which settings, or why it is
// rejected.
#pragma once

#include <string>
#include <variant>

#include "proxy/forward/session/client.hpp"
#include "proxy/net/ends/body_source.hpp"

namespace reprise::forward {

/// A byte stream that carries separate requests, all of them to the stream's upstream.
struct InsideStream {
  RequestKind kind = RequestKind::inside_tunnel;
  std::string host;
  std::uint16_t port = 0;
  std::string authority;  ///< the upstream's `host[:port]`, as the client wrote it if the client sent one
  std::string dialled;    ///< the dialled host; for a redirected connection, its original destination address
  bool http2 = false;     ///< the client has chosen HTTP/2 in its TLS handshake
};

/// The request goes to an upstream.
struct Exchanged {};
/// Max-Forwards is 0, so this proxy sends the response itself (RFC 9110 7.6.2).
struct RespondedHere {};
using Plan = std::variant<Exchanged, RespondedHere, http::Rejection>;

/// Plans a request whose head is complete, under the current configuration snapshot. `inside`: the byte
/// stream that carries the request; null if there is none. `body`: reads the request's body.
Plan plan(Client&, const InsideStream* inside, net::BodySource& body, Request&);

/// Plans a byte stream to the given target.
void plan_tunnel(Client&, net::BodySource& body, Request&, const StreamProtocol&, StreamTarget);
/// Chooses the route again, for a redirected stream whose host is now known.
void route_by_name(Request&, TunnelRequest&, std::string host);

}  // namespace reprise::forward
