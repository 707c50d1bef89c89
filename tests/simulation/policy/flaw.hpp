// Defects for the canary: what the exchange is told is not what the laws are judged by.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace reprise::simulation {

enum class Flaw : std::uint8_t {
  none,
  body_called_held,   ///< what was let go is played again
  called_idempotent,  ///< an effect is repeated
  called_active,      ///< a route that only watches retries
  budget_withheld,    ///< retries cost nothing
  signature_hidden,   ///< sent again after the signature has run out
  deadline_lifted,    ///< retries go on for ever
  one_attempt_more,   ///< max_attempts is one too high
  hint_halved,        ///< sooner than asked
  rest_is_the_rest,   ///< what differs is appended to the download
  circuit_withheld,   ///< a broken host is asked on
  pause_withheld,     ///< a host that asked for a pause gets none
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
