// Planted defects that the simulation must detect: the exchange gets altered facts, and the laws check it
// against the true facts.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace reprise::simulation {

enum class Flaw : std::uint8_t {
  none,
  body_called_held,   ///< a body that is no longer held is sent again
  called_idempotent,  ///< a non-idempotent request is repeated
  called_active,      ///< a request is retried on a route that must not retry
  budget_withheld,    ///< retries are not charged to the budget
  signature_hidden,   ///< a request is sent again after its signature has expired
  deadline_lifted,    ///< retries continue for 30 s after the deadline
  one_attempt_more,   ///< max_attempts is one too high
  hint_halved,        ///< a retry is sent earlier than its hint allows
  rest_is_the_rest,   ///< bytes of another representation are appended to a download
  circuit_withheld,   ///< requests are sent through an open circuit
  pause_withheld,     ///< requests are sent to a host that asked for a pause
};

inline constexpr std::array<std::string_view, 12> flaw_words{"none",
                                                             "body_called_held",
                                                             "called_idempotent",
                                                             "called_active",
                                                             "budget_withheld",
                                                             "signature_hidden",
                                                             "deadline_lifted",
                                                             "one_attempt_more",
                                                             "hint_halved",
                                                             "rest_is_the_rest",
                                                             "circuit_withheld",
                                                             "pause_withheld"};
inline std::string_view word(Flaw flaw) { return flaw_words[static_cast<std::size_t>(flaw)]; }

}  // namespace reprise::simulation
