// What one attempt works with, and what comes of it.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/net/io/attempt_cancel.hpp"
#include "proxy/policy/decision/exchange.hpp"

namespace reprise::forward {

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

/// References, which must outlive the attempt.
struct OneAttempt {
  Worker& worker;
  Outgoing& out;        ///< what is sent
  net::Stream* client;  ///< gets the interim responses; null: nobody does
  net::AttemptCancel& cancel;
  std::optional<Instant>
      deadline;        ///< of attempts that may be repeated, and of the way to a connection of all
  Response& response;  ///< gets the head, with its body unread, or stays empty
  /// Written at the end. Not a value of the coroutine, which would be copied once more for every request.
  AttemptResult result{};
};

}  // namespace reprise::forward
