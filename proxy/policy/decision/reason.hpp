// The closed list of reasons. Each reason is one gate, one metric label, one log word, one row in the docs
// and one test. CONTRIBUTING.md says how to add a reason.
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
  REASON(success, ends, never, "the status is below 400 (for a gRPC call, also no error status before its first message) and the route does not list it") \
  REASON(not_retryable, ends, never, "the route does not list this status or failure") \
  REASON(retryable_status, again, never, "the route lists this status and a retry is safe") \
  REASON(retryable_failure, again, never, "the route lists this failure and a retry is safe") \
  REASON(retryable_body, again, never, "an entry of hold.body matches the response and a retry is safe") \
  REASON(stale_connection, again, never, "a reused connection ended before any response byte, its response was 421, or the upstream did not process an HTTP/2 request: one retry at once, on another connection") \
  REASON(hedged, again, never, "a second copy of the request was sent while the first attempt had no response yet") \
  REASON(resumed, again, never, "the download broke and reprise requested the rest of it") \
  REASON(not_idempotent, ends, never, "the upstream may have received the request, and no rule of the route calls it idempotent") \
  REASON(not_replayable, ends, never, "the request body is no longer held (a limit was reached), or the request belongs to an authenticated connection (NTLM, Negotiate)") \
  REASON(attempts_spent, limit, never, "a maximum number of attempts is reached: retry.max_attempts, resume.max_attempts, or three lookups of a name that does not exist") \
  REASON(deadline_too_near, limit, too_late, "the route's deadline is exceeded, or would be before the next attempt") \
  REASON(budget_spent, limit, never, "the retry budget of this upstream is used up") \
  REASON(upstream_said_later, limit, never, "the upstream asked for a longer wait than retry_after.maximum or the deadline allows") \
  REASON(upstream_said_no, ends, never, "the upstream explicitly asked not to retry") \
  REASON(nested_retry, ends, never, "the client's request is itself a retry, or another reprise has already retried it, and the route refuses nested retries") \
  REASON(signature_expired, ends, never, "the request's signature expires before another attempt could arrive, or its one-time credential may have been used") \
  REASON(circuit_open, ends, unavailable, "the circuit of this upstream is open, so the request was not sent") \
  REASON(host_paused, ends, unavailable, "this upstream has asked for a pause, so the request was not sent") \
  REASON(address_denied, ends, forbidden, "security.deny lists every address of the upstream") \
  REASON(ambiguous_outcome, ends, never, "an earlier attempt was sent and got no response; the later error response may only mean that the earlier attempt took effect") \
  REASON(response_started, ends, never, "the client already has part of the response, and the rest cannot be requested") \
  REASON(resume_mismatch, ends, never, "the response to a resumed download is not the rest of the first response") \
  REASON(client_gone, ends, never, "the client closed or reset its connection, or reset its HTTP/2 stream") \
  REASON(shutting_down, ends, never, "reprise is shutting down") \
  REASON(observe_only, ends, never, "the route is in mode observe; in mode active, the request would have been retried") \
  REASON(retries_off, ends, never, "the route is in mode off")
// clang-format on

#define REPRISE_ENUMERATOR(name, course, unattempted, meaning) name,

/// Why an exchange sent another attempt or stopped. docs/reasons.md has the same table.
enum class Reason : std::uint8_t { REPRISE_REASONS(REPRISE_ENUMERATOR) };

#undef REPRISE_ENUMERATOR

inline constexpr std::size_t reason_count = count_of<Reason>;

/// Returns every enumerator, in declaration order.
constexpr std::array<Reason, reason_count> all_reasons() {
  std::array<Reason, reason_count> all{};
  for (std::size_t i = 0; i < reason_count; ++i) all[i] = static_cast<Reason>(i);
  return all;
}

/// How the proxy responds if a reason ends a request before any attempt.
enum class Unattempted : std::uint8_t {
  never,        ///< no response: the reason is given only after an attempt, or the client no longer waits
  forbidden,    ///< the upstream may not be contacted
  too_late,     ///< no response could arrive in time
  unavailable,  ///< the upstream is not contacted for a while
};

std::string_view word(Reason);
/// Returns the meaning of the reason as one sentence, for documents and people.
std::string_view meaning(Reason);
/// Returns true if the reason means that the request is sent again.
bool is_retry(Reason);
/// Returns true if the reason is a limit that ends a request which would have been retried.
bool is_exhausted(Reason);
Unattempted unattempted(Reason);

}  // namespace reprise::policy
