// Names the limit behind the reason `attempts_spent`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/policy/decision/ledger.hpp"

namespace reprise::policy {

/// Maximum number of lookups of a name that has never existed. Such a name is probably misspelled.
inline constexpr unsigned most_look_ups = 3;

/// The limits that end a request with `attempts_spent`.
enum class AttemptLimit : std::uint8_t {
  attempts,  ///< `retry.max_attempts`
  look_ups,  ///< `most_look_ups`
  resumes,   ///< `resume.max_attempts`
};

/// Returns the limit that ended a request with `attempts_spent`. `attempts`: their number. `last`: the
/// outcome of the last one. `resumed`: the request was resumed, so only resumes were limited at its end.
AttemptLimit attempt_limit(std::size_t attempts, const Outcome& last, bool resumed);

/// Returns the meaning of the reason as one sentence. For `attempts_spent`, names only this limit.
std::string_view meaning(Reason, AttemptLimit);

/// Returns why the exchange ended, as one sentence.
std::string_view meaning_of_end(const Ledger&);

}  // namespace reprise::policy
