// From a finished request to its one record: metrics and the access line.
#pragma once

#include "proxy/http/reply.hpp"
#include "proxy/net/exchange.hpp"

namespace reprise::net {

void record(Loop&, const Request&, const Served&);
/// At log level `debug`: what has just been decided, while the request is still under way.
void narrate(Loop&, const Request&, const policy::LedgerEntry&);
/// An attempt's status, or the stage and cause of its failure, and what was decided: `503, retryable_status`.
std::string outcome_text(const policy::LedgerEntry&);
/// A line for a request that was refused before it had a route.
void log_rejection(Loop&, const http::Reply&, http::Cause);
/// A warning of what fails at that upstream or parent proxy, at most one a second: every request may meet it.
void warn_of(Loop&, Upstream&, std::string_view text);

}  // namespace reprise::net
