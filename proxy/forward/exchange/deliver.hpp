// What the client gets at the end of an exchange: an upstream's response, or one in our own words.
#pragma once

#include "proxy/forward/exchange/one_exchange.hpp"
#include "proxy/forward/exchange/relay.hpp"
#include "proxy/forward/exchange/served.hpp"
#include "proxy/http/http1/reply.hpp"

namespace reprise::forward {

struct Delivered {
  Served served;
  Relayed::End end = Relayed::End::complete;
  policy::Cause cause = policy::Cause::truncated;
  bool stalled = false;  ///< of a broken body: it is only silent
};

/// True while nobody new is let in where the request came in: its response ends the connection, and says so.
bool is_last(const Worker&, const Incoming&);
/// Our own line of how many attempts there were, where the route has such lines.
void append_attempts(const policy::RoutePolicy&, unsigned attempts, std::string& lines);
/// Our own line of why it ended so: a reason's word, or that of a rejection.
void append_reason(std::string_view reason, std::string& lines);
/// Sends the response, then, for CONNECT and a 101, carries bytes until the tunnel ends.
Task<void> deliver_response(OneExchange&, Response&, Delivered&);
/// 502, 503, 504, 403 or 508: no upstream response can be given.
Task<Served> deliver_failure(OneExchange&, bool gateway_timeout);
/// 4xx or 5xx for a request that is refused; the connection closes.
Task<Served> deliver_rejection(OneExchange&, http::Rejection);

}  // namespace reprise::forward
