// What the I/O code reports to the exchange about one attempt.
#pragma once

#include <cstdint>

#include "proxy/policy/decision/upstream_address.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::policy {

/// What the I/O code observed during one attempt. `Exchange` adds its own counts.
struct AttemptReport {
  bool reused = false;
  Sent sent = Sent::nothing;
  bool replayable = true;
  /// Whether the request is idempotent. Judged at the time of this report, from the part of the request body
  /// that is held at that time.
  Idempotency idempotent = Idempotency::no;
  unsigned number = 0;        ///< number of the attempt; 0 for the running attempt if only one runs
  UpstreamAddress address{};  ///< not used for decisions; only recorded in the ledger
  std::uint64_t sent_bytes = 0;
  // The following are not used for decisions either.
  bool http2 = false;  ///< the attempt used HTTP/2
  Duration queued{};   ///< how long the attempt waited for an HTTP/2 stream
};

/// What is known of an attempt that was stopped because the client reset the connection. By default it has
/// not reported, so bytes may have been sent.
struct StoppedAttempt {
  AttemptReport report{false, Sent::maybe};
  Stage stage = Stage::await_head;  ///< where the attempt was
};

}  // namespace reprise::policy
