// Delivers the final response of an exchange to the client: an upstream's, or one that this proxy generates.
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
  bool stalled = false;                           ///< the broken body has only stalled and may continue
  std::optional<policy::Http2Code> reset_code{};  ///< see Relayed
  bool between_messages = false;                  ///< see Relayed
};

/// Counts and logs a request that is rejected before it has a route. Returns the response, whose text belongs
/// to the request. `closes`: the response says that the connection ends.
std::string_view write_rejection(Worker&, Request&, http::Rejection, bool closes);

/// Returns true if the response must be announced as the last one on the client's connection, because a drain
/// was requested or the listener is closed.
bool is_last(const Worker&, const Incoming&);
/// Appends `Reprise-Attempts`, unless the route's `response_headers` is `false`.
void append_attempts(const policy::RoutePolicy&, unsigned attempts, std::string& lines);
/// Appends `Reprise-Reason`. `reason`: the word of a reason or of a rejection.
void append_reason(std::string_view reason, std::string& lines);
/// Sends the response. After a CONNECT or a 101, relays bytes until the tunnel ends.
Task<void> deliver_response(OneExchange&, Response&, Delivered&);
/// Sends 502, 503, 504, 403 or 508 if there is no upstream response to deliver.
Task<Served> deliver_failure(OneExchange&, bool gateway_timeout);
/// Sends 4xx or 5xx for a rejected request and ends the connection.
Task<Served> deliver_rejection(OneExchange&, http::Rejection);

}  // namespace reprise::forward
