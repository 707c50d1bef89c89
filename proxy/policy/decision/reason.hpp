// The closed list of reasons. Each is one gate, one metric label, one log word, one row in the docs and one
// test. CONTRIBUTING.md says how to add a reason.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::policy {

// clang-format off
/// One line for each reason, and everything about it:
/// - the name: the enumerator, and the word in verdicts, logs, metric labels, response headers and docs
/// - the course: the request is sent `again`, it `ends`, or it meets a `limit`, which ends a request that would have been sent again
/// - the Unattempted response: what the client gets if the reason ends a request before any attempt
/// - the meaning: one sentence for the docs and for people
#define REPRISE_REASONS(REASON) \
  REASON(success, ends, never, "an answer below 400 that the route does not list") \
  REASON(not_retryable, ends, never, "any other answer or failure that the route does not list") \
  REASON(retryable_status, again, never, "the route lists the status and playing the request again is safe") \
  REASON(retryable_failure, again, never, "the route lists the failure and playing the request again is safe") \
  REASON(retryable_body, again, never, "a predicate of the route matches the answer and playing the request again is safe") \
  REASON(stale_connection, again, never, "a reused connection ended before any answer byte, or answered 421: once more, at once, on a fresh connection") \
  REASON(hedged, again, never, "a second copy was sent beside the first") \
  REASON(resumed, again, never, "a broken download is being continued") \
  REASON(not_idempotent, ends, never, "bytes may have reached the upstream and no rule calls the request idempotent") \
  REASON(not_replayable, ends, never, "the request body is no longer held (limits), or the connection was authenticated for it (NTLM, Negotiate)") \
  REASON(attempts_spent, limit, never, "the route's max_attempts are used up") \
  REASON(deadline_too_near, limit, too_late, "the route's deadline is over, or would be before the next attempt") \
  REASON(budget_spent, limit, never, "the retry budget of this upstream is used up") \
  REASON(upstream_said_later, limit, never, "the upstream asked for a longer pause than the route or the deadline allows") \
  REASON(upstream_said_no, ends, never, "the upstream said that it must not be tried again") \
  REASON(nested_retry, ends, never, "the client is itself on a retry, or another reprise has retried this answer, and the route says refuse") \
  REASON(signature_expired, ends, never, "no attempt can arrive before the request's signature runs out, or its one-time credential may have been used") \
  REASON(circuit_open, ends, unavailable, "the upstream's circuit is open; nothing was sent") \
  REASON(host_paused, ends, unavailable, "the upstream has asked for a pause; nothing was sent") \
  REASON(address_denied, ends, forbidden, "every address of the upstream is under security.deny") \
  REASON(ambiguous_outcome, ends, never, "an attempt was sent and got no response, and a later response may be about our own repeat") \
  REASON(response_started, ends, never, "part of the answer is out and it cannot be continued") \
  REASON(resume_mismatch, ends, never, "the continuation of a download is not the rest of it") \
  REASON(client_gone, ends, never, "the client closed or reset its connection") \
  REASON(shutting_down, ends, never, "reprise is shutting down") \
  REASON(observe_only, ends, never, "the route only observes: it would have been tried again") \
  REASON(retries_off, ends, never, "retries are off for this route")
// clang-format on

#define REPRISE_ENUMERATOR(name, course, unattempted, meaning) name,

/// Why an exchange went on or stopped; README.md of the repository has the same table.
enum class Reason : std::uint8_t { REPRISE_REASONS(REPRISE_ENUMERATOR) };

#undef REPRISE_ENUMERATOR

inline constexpr std::size_t reason_count = count_of<Reason>;

/// Returns every enumerator, in declaration order.
constexpr std::array<Reason, reason_count> all_reasons() {
  std::array<Reason, reason_count> all{};
  for (std::size_t i = 0; i < reason_count; ++i) all[i] = static_cast<Reason>(i);
  return all;
}

/// The response to a request that a reason ends before any attempt.
enum class Unattempted : std::uint8_t {
  never,        ///< does not occur: the reason judges an attempt, or the client no longer waits
  forbidden,    ///< the upstream may not be contacted
  too_late,     ///< no response could arrive in time
  unavailable,  ///< the upstream is not contacted for a while
};

std::string_view word(Reason);
/// Returns one sentence for documents and people.
std::string_view meaning(Reason);
/// Returns true for the reasons that send the request again.
bool is_retry(Reason);
/// Returns true for the limits that end a request which would have been retried.
bool is_exhausted(Reason);
Unattempted unattempted(Reason);

}  // namespace reprise::policy
