// From a finished request to its one record: metrics and the access line.
#pragma once

#include "proxy/forward/exchange/served.hpp"
#include "proxy/forward/request/request.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/http/http1/reply.hpp"

namespace reprise::forward {

void record(Worker&, const Request&, const Served&);
/// At log level `debug`: what has just been decided, while the request is still under way.
void narrate(Worker&, const Request&, const policy::LedgerEntry&);
/// An attempt's status, or the stage and cause of its failure, and what was decided: `503, retryable_status`.
std::string outcome_text(const policy::LedgerEntry&);
/// A line for a request that was refused: what, where it came in, by whom, and what to do.
void log_rejection(Worker&, const Request&, const http::Reply&, http::Rejection);

}  // namespace reprise::forward
