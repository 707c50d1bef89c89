// One try at one request: lease or dial a connection, send, read to the response's head. It never decides.
#pragma once

#include "proxy/cancellation/attempt_cancel.hpp"
#include "proxy/message/request.hpp"
#include "proxy/message/response.hpp"
#include "proxy/policy/exchange.hpp"
#include "proxy/worker/worker.hpp"

namespace reprise::net {

/// What the client had to do with the end of an attempt.
enum class ClientState : std::uint8_t {
  present,
  gone,       ///< it left while its body was being read, or an interim response could not be sent
  malformed,  ///< its body's chunked coding is broken (400), or
              ///< what was held of it to be counted is lost (411)
};

struct AttemptResult {
  policy::Outcome outcome;
  policy::AttemptReport report;
  ClientState client = ClientState::present;
};

/// Brings a response head into `response` (whose body is unread), or a failure; says in `result` which.
/// `deadline` bounds attempts that may be repeated, and the way to a connection of all. Interim responses go
/// to `client`, or nowhere if it is null. Everything must outlive it.
Task<void> attempt(Worker&, Request&, Stream* client, AttemptCancel&, const policy::Start&,
                   std::optional<Instant> deadline, Response& response, AttemptResult& result);

}  // namespace reprise::net
