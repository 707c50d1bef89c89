// The inputs and the result of one attempt.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/forward/request/outgoing.hpp"
#include "proxy/forward/request/response.hpp"
#include "proxy/forward/worker/worker.hpp"
#include "proxy/net/ends/client_end.hpp"
#include "proxy/net/io/attempt_cancel.hpp"
#include "proxy/policy/decision/exchange.hpp"

namespace reprise::forward {

/// The client's state at the end of an attempt.
enum class ClientState : std::uint8_t {
  present,
  gone,  ///< the client left while its body was read, or an interim response could not be sent
  /// The chunked coding of the request body is malformed (400), or the body was lost while its length was
  /// being determined (411).
  malformed,
};

struct AttemptResult {
  policy::Outcome outcome;
  policy::AttemptReport report;
  ClientState client = ClientState::present;
};

/// Holds references to objects that must outlive the attempt.
struct OneAttempt {
  Worker& worker;
  Outgoing& out;           ///< the request
  net::ClientEnd* client;  ///< receives interim responses; null: they are discarded
  net::AttemptCancel& cancel;
  /// Deadline of an attempt that may be repeated. For any other attempt, it limits only the time to get a
  /// connection.
  std::optional<Instant> deadline;
  Response& response;  ///< receives the response head, with the body unread; stays empty if no head arrives
  /// Written at the end of the attempt. If the coroutine returned the result, the result would be copied once
  /// more in every request.
  AttemptResult result{};
};

}  // namespace reprise::forward
