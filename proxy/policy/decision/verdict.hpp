// What is decided after an attempt, and the facts that it is decided from.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/decision/reason.hpp"
#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// What the request is. Filled by whoever understands HTTP.
struct Facts {
  Idempotency idempotent = Idempotency::no;
  bool safe_method = false;  ///< no effect that could be repeated or ambiguous
  bool nested = false;       ///< the client is itself on a retry
  /// When the signature runs out; absent: unsigned, or nobody asked.
  std::optional<Instant> signed_until = std::nullopt;
  /// `Cache-Control: no-store`: its body is not written to disk (RFC 9111 5.2.1.5). Asked of bodies that are
  /// too long for memory.
  bool no_store = false;
  /// A copy may go beside it: it opens no tunnel, asks for no other protocol than TLS (RFC 2817 3.1), its
  /// credentials are neither those of its connection nor valid once, and it does not fail because of the
  /// other copy.
  bool copyable = true;
  /// A PUT or PATCH with `If-None-Match: *`: the second execution fails because of the first (row N16).
  bool create_only = false;
  /// Its credentials are valid once (OAuth 1 nonce, DPoP), and the route heeds that (row N17).
  bool one_time = false;
  /// It asks for another protocol (row N15).
  bool changes_protocol = false;
  /// Its client does not know that a proxy is between: it was taken over, or its TLS is ended here.
  bool unaware_client = false;
  /// Nothing came before it on its client's connection.
  bool first_of_connection = true;
};

/// How much of the request the kernel has accepted for the upstream.
enum class Sent : std::uint8_t { nothing, maybe };

/// One try, as the I/O reports it.
struct Attempt {
  unsigned number = 1;   ///< from 1, stale retries included
  unsigned charged = 1;  ///< from 1, the stale retry and resumes excluded: what backoff counts
  bool reused = false;   ///< the connection had carried another request before
  Sent sent = Sent::nothing;
  bool replayable = true;         ///< every body byte read so far is held (true without a body)
  bool stale_retry_used = false;  ///< this request has had its one free retry
  Duration wait{};                ///< the backoff before it; what `decorrelated` looks at
  Hints other_copy = {};          ///< of a hedged one: what the other copy's response still asks for
  bool outcome_unknown = false;   ///< an earlier attempt was sent and got no response
};

struct Verdict {
  bool retry = false;
  Duration delay{};  ///< before the next attempt; in observe mode, what it would have been
  Reason reason = Reason::success;
};

/// True if the delay came from the dice: it is neither none nor a hint that stands alone.
inline bool was_drawn(const Verdict& verdict) {
  return verdict.delay > Duration::zero() && verdict.reason != Reason::upstream_said_later;
}

}  // namespace reprise::policy
