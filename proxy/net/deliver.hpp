// What the client gets at the end of an exchange: an upstream's answer, or one in our own words.
#pragma once

#include "proxy/http/reply.hpp"
#include "proxy/net/exchange.hpp"
#include "proxy/net/relay.hpp"

namespace reprise::net {

struct Delivered {
  Served served;
  Relayed::End end = Relayed::End::complete;
  policy::Cause cause = policy::Cause::truncated;
};

/// Our own line of how many attempts there were, where the route has such lines.
void append_attempts(const policy::RoutePolicy&, unsigned attempts, std::string& lines);
/// Sends the answer, then, for CONNECT and a 101, carries bytes until the tunnel ends.
Task<Delivered> deliver_answer(Loop&, Request&, ClientSide, const policy::Ledger&, Answer&);
/// 502, 503, 504, 403 or 508: no upstream answer can be given.
Task<Served> deliver_failure(Loop&, Request&, ClientSide, const policy::Ledger&, bool gateway_timeout);
/// 4xx or 5xx for a request that is refused; the connection closes.
Task<Served> deliver_rejection(Loop&, Request&, ClientSide, http::Cause);

}  // namespace reprise::net
