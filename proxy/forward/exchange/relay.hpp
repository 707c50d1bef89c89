// Hands an upstream's response to the client: the head in one
// send with the body bytes at hand, then the rest as it comes.
#pragma once

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

struct Relayed {
  enum class End : std::uint8_t { complete, broken, client_gone };
  End end = End::complete;
  policy::Cause cause = policy::Cause::truncated;  ///< for `broken`
  std::uint64_t bytes =
      0;                 ///< of the body; for `complete` and `broken` the client's kernel has taken them all
  bool stalled = false;  ///< for `broken`: the upstream sent nothing for as long as it may
};

/// `head` is sent first; empty where the body had stalled and goes on. A body that brings no
/// byte for `patience_with` has broken. A body that breaks is never ended: no last chunk, no clean close (the
/// caller cuts).
Task<Relayed> relay(net::Pool&, const Outgoing&, net::Stream& client, std::string_view head, Response&);

/// A body that broke with that step, `bytes` of it being with the client.
Relayed broken(net::BodyStep step, std::uint64_t bytes);

/// Until the client's host has acknowledged all that was sent to it, or for half a minute nothing more.
Task<void> until_all_is_acknowledged(net::Stream& client, net::Pause&);

/// Counts the idle limit that ended it, if one did.
void count_limit(telemetry::Metrics&, const Relayed&, net::Stream& client);

/// True if the body goes out chunked: the client understands it, and its length is not known beforehand.
bool sends_chunked(const Incoming&, const Response&);
/// True if the client can tell the body's end from a connection that broke; false where only the connection's
/// end is the body's.
bool is_framed_for_client(const Incoming&, const Response&);

}  // namespace reprise::forward
