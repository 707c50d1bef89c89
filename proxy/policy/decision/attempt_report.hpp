// How an attempt went, as the I/O saw it.
#pragma once

#include <cstdint>

#include "proxy/policy/decision/upstream_address.hpp"
#include "proxy/policy/decision/verdict.hpp"

namespace reprise::policy {

/// What the I/O reports of an attempt; `Exchange` adds its own counting.
struct AttemptReport {
  bool reused = false;
  Sent sent = Sent::nothing;
  bool replayable = true;
  Idempotency idempotent = Idempotency::no;  ///< judged now, on what is held of the body now
  unsigned number = 0;                       ///< which attempt; 0: the only one that runs
  UpstreamAddress address{};                 ///< for the record alone, like the next member
  std::uint64_t sent_bytes = 0;
};

}  // namespace reprise::policy
