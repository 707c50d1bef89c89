// The verdict after an attempt, and the facts on which it is based.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/decision/reason.hpp"
#include "proxy/policy/match/condition.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// The facts about a request that the policy needs. The code that understands HTTP fills them in.
struct Facts {
  Idempotency idempotent = Idempotency::no;
  bool safe_method = false;  ///< the method is safe (RFC 9110 9.2.1): a repeat has no effect
  bool nested = false;       ///< the client's request is itself a retry by the client
  /// When the signature of the request expires; absent if it has no signature or the route ignores
  /// signatures.
  std::optional<Instant> signed_until = std::nullopt;
  /// When the client's own deadline for a gRPC call ends; absent if the client has set none (row M87).
  std::optional<Instant> call_deadline = std::nullopt;
  /// `Cache-Control: no-store`: the body must not be written to disk (RFC 9111 5.2.1.5). Matters only for a
  /// body that is too long for memory.
  bool no_store = false;
  /// Whether a copy may be sent beside the first attempt. False for a tunnel, for an upgrade to a protocol
  /// other than TLS (RFC 2817 3.1), for credentials that belong to the connection or are valid once, and for
  /// a request whose copy would fail because the first attempt took effect.
  bool copyable = true;
  /// A PUT or PATCH with `If-None-Match: *`: a second execution fails if the first took effect (row N16).
  bool create_only = false;
  /// The credentials are valid once (OAuth 1 nonce, DPoP), and the route has `signature.one_time` (row N17).
  bool one_time = false;
  /// The request asks to switch to another protocol (row N15).
  bool changes_protocol = false;
  /// The client does not know about the proxy: its connection was redirected here, or its TLS is intercepted.
  bool unaware_client = false;
  /// The request is the first on the client's connection.
  bool first_of_connection = true;
};

/// How much of the request the kernel has accepted for the upstream: nothing, or possibly some bytes.
enum class Sent : std::uint8_t { nothing, maybe };

/// One attempt, as the I/O reports it.
struct Attempt {
  unsigned number = 1;   ///< number of the attempt, from 1; counts stale retries too
  unsigned charged = 1;  ///< number from 1, not counting stale retries and resumes; the backoff depends on it
  bool reused = false;   ///< the connection had carried another request before
  Sent sent = Sent::nothing;
  bool replayable = true;         ///< every body byte read so far is held; true without a body
  bool stale_retry_used = false;  ///< this request has used its one stale retry
  Duration wait{};                ///< backoff before this attempt; used by `decorrelated` jitter
  Hints other_copy = {};          ///< for a hedged attempt: hints of the competing attempt that still apply
  bool outcome_unknown = false;   ///< an earlier attempt was sent and got no response
};

struct Verdict {
  bool retry = false;
  /// Wait before the next attempt. In observe mode: the wait that an active route would have made.
  Duration delay{};
  Reason reason = Reason::success;
};

/// Returns true if the delay was drawn at random. A delay that is zero, or that only follows a hint, was not
/// drawn.
inline bool was_drawn(const Verdict& verdict) {
  return verdict.delay > Duration::zero() && verdict.reason != Reason::upstream_said_later;
}

}  // namespace reprise::policy
