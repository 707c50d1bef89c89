// A scripted world that obeys policy::Exchange on an invented clock, and writes down what happened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/script.hpp"

namespace reprise::play {

inline constexpr Instant epoch{std::chrono::hours(1)};

/// True if that is what an exchange asks for last.
inline bool waits(const policy::Actions& actions) {
  return actions.size() > 0 && std::holds_alternative<policy::Wait>(actions[actions.size() - 1]);
}

/// One thing that happened, and what the exchange asked for in return.
struct Event {
  enum class Kind : std::uint8_t { began, attempt_ended, wait_ended, body_broke, delivered, interrupted };
  enum class During : std::uint8_t { attempt, wait, body };
  Kind kind = Kind::began;
  unsigned number = 1;  ///< the attempt it belongs to
  Instant at{};
  policy::Actions actions;
  policy::Reason reason = policy::Reason::success;  ///< the ledger's, after the event
  bool ambiguous = false;
  Interruption interruption = Interruption::none;
  During during = During::attempt;
};

/// Everything that a story came to.
struct Played {
  std::vector<Event> events;
  policy::Ledger ledger;
  std::vector<policy::LedgerEntry> entries;  ///< every one, those that the ledger has forgotten too
  std::optional<Instant> deadline;
  bool over = false;
  bool stirred_after_end = false;  ///< an event after the end was answered with an action or written down
  bool stuck = false;              ///< it was not over, and nothing was asked for
  bool endless = false;            ///< given up
  double budget_before = 0;        ///< retries left after the first attempt was counted
  double budget_after = 0;
};

/// How the body of that attempt (from 1) breaks. A last step that is repeated does not break again: a
/// download that makes progress for ever has no end. One that broke while it was held breaks in any case.
Breaking breaking(const Script&, std::size_t number);

/// Plays a script: obeys one exchange with its steps, the last of which repeats for ever, and throws the dice
/// that it is given.
Played run(const Scene&, const Script&, policy::Dice&);

/// The same with the dice of the scene.
Played run(const Scene&, const Script&);

/// Seconds from the start of the story to the start of each attempt.
std::vector<double> starts(const Played&);

/// "3ms", "1.5ms".
std::string milliseconds(Duration);

/// What came of an attempt, in words.
std::string text(const policy::Outcome&);

/// What the exchange asked for at that event, in words.
std::string text(const policy::Actions&, const Event&);

/// One line for each attempt and for whatever disturbed it.
std::string transcript(const Played&, const Script&);

}  // namespace reprise::play
