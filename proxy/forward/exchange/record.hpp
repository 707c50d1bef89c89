// Records a finished request: metrics, request history, spans and access log.
#pragma once

#include "proxy/forward/exchange/served.hpp"
#include "proxy/forward/request/request.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/http/http1/reply.hpp"

namespace reprise::forward {

void record(Worker&, const Request&, const Served&);
/// Logs the latest retry decision of a request that is still running, at level `debug`.
void log_decision(Worker&, const Request&, const policy::LedgerEntry&);
/// Returns the outcome of an attempt (the status, or the stage and cause of the failure) and the reason of
/// the decision, for example `503, retryable_status`.
std::string outcome_text(const policy::LedgerEntry&);
/// Logs a rejected request: the cause, the listener, the client, and what to do.
void log_rejection(Worker&, const Request&, const http::Reply&, http::Rejection);

}  // namespace reprise::forward
