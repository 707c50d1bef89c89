// What becomes of a request's head: where it goes, by which route, and on what terms; or why it is refused.
#pragma once

#include <string>
#include <variant>

#include "proxy/forward/session/served_client.hpp"

namespace reprise::forward {

/// A byte stream whose requests are served one by one: all of them go to its upstream.
struct InsideStream {
  RequestKind kind = RequestKind::inside_tunnel;
  std::string host;
  std::uint16_t port = 0;
  std::string authority;  ///< as the client wrote it
  std::string dialled;    ///< the host, or, of what was redirected, its original address
};

/// The request goes to an upstream.
struct Exchanged {};
/// Max-Forwards has run out, so the response is ours (RFC 9110 7.6.2).
struct RespondedHere {};
using Plan = std::variant<Exchanged, RespondedHere, http::Rejection>;

/// Plans a request whose head is whole, under the configuration of this moment. `inside` is null for a
/// connection that is no byte stream.
Plan plan(ServedClient&, const InsideStream* inside, Request&);

/// Plans a byte stream to that target.
void plan_tunnel(ServedClient&, Request&, const StreamProtocol&, StreamTarget);
/// A redirected stream has named its host: it is routed again.
void route_by_name(Request&, TunnelRequest&, std::string host);

}  // namespace reprise::forward
