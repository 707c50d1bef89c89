// The closed list of reasons: one enumerator is one gate, one metric label, one log word, one row in the
// docs, one test. Its row in reason.cpp has the rest; CONTRIBUTING.md says how to add one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::policy {

/// Why an exchange went on or stopped; README.md of the repository has the same table.
enum class Reason : std::uint8_t {
  success,
  not_retryable,
  retryable_status,
  retryable_failure,
  retryable_body,
  stale_connection,
  hedged,
  resumed,
  not_idempotent,
  not_replayable,
  attempts_spent,
  deadline_too_near,
  budget_spent,
  upstream_said_later,
  upstream_said_no,
  nested_retry,
  signature_expired,
  circuit_open,
  host_paused,
  address_denied,
  ambiguous_outcome,
  response_started,
  resume_mismatch,
  client_gone,
  shutting_down,
  observe_only,
  retries_off,
};

inline constexpr std::size_t reason_count = count_of<Reason>;

/// Every enumerator, in declaration order.
constexpr std::array<Reason, reason_count> all_reasons() {
  std::array<Reason, reason_count> all{};
  for (std::size_t i = 0; i < reason_count; ++i) all[i] = static_cast<Reason>(i);
  return all;
}

/// What becomes of a request that a reason ends before any attempt.
enum class Unattempted : std::uint8_t {
  never,        ///< the reason judges an attempt, or says that nobody waits for a response
  forbidden,    ///< the upstream may not be asked
  too_late,     ///< no response could come in time
  unavailable,  ///< the upstream is not asked for a while
};

/// The enumerator's own name: the word used in verdicts, logs, metric labels, response headers and docs.
std::string_view word(Reason);
/// One sentence for the docs and for people.
std::string_view meaning(Reason);
/// True for the reasons that send the request again.
bool is_retry(Reason);
/// True for the limits that end a request which would have been tried again.
bool is_exhausted(Reason);
Unattempted unattempted(Reason);

}  // namespace reprise::policy
