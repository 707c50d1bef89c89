// A scripted world: executes the actions of policy::Exchange on a virtual clock, and records the events.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/script.hpp"

namespace reprise::play {

inline constexpr Instant epoch{std::chrono::hours(1)};

/// Returns true if the last action is a wait.
inline bool waits(const policy::Actions& actions) {
  return actions.size() > 0 && std::holds_alternative<policy::Wait>(actions[actions.size() - 1]);
}

/// One event, and the actions that the exchange returned for it.
struct Event {
  enum class Kind : std::uint8_t { began, attempt_ended, wait_ended, body_broke, delivered, interrupted };
  enum class During : std::uint8_t { attempt, wait, body };
  Kind kind = Kind::began;
  unsigned number = 1;  ///< number of the attempt to which the event belongs
  Instant at{};
  policy::Actions actions;
  policy::Reason reason = policy::Reason::success;  ///< reason in the ledger after the event
  bool ambiguous = false;
  Interruption interruption = Interruption::none;
  During during = During::attempt;
};

/// Everything that happened in a story.
struct Played {
  std::vector<Event> events;
  policy::Ledger ledger;
  std::vector<policy::LedgerEntry> entries;  ///< all entries, including those that the ledger has evicted
  std::optional<Instant> deadline;
  bool over = false;
  bool stirred_after_end = false;  ///< an event after the end led to an action or to a change of the ledger
  bool stuck = false;              ///< the exchange was not over, but returned no action
  bool endless = false;            ///< the run was stopped, because there were too many attempts
  double budget_before = 0;        ///< retries left in the budget after it counted the first attempt
  double budget_after = 0;
};

/// Returns how the body of this attempt (counted from 1) breaks. After the end of the script, the last step
/// is repeated without the break, because otherwise the download would break and be resumed without end. If
/// the outcome is a response that broke while it was held, the result is never `Breaking::no`.
Breaking breaking(const Script&, std::size_t number);

/// Plays a script: executes the actions of one exchange, with one step per attempt. The last step repeats
/// forever.
Played run(const Scene&, const Script&, policy::Dice&);

/// Plays the script with the dice of the scene.
Played run(const Scene&, const Script&);

/// Returns the seconds from the start of the story to the start of each attempt.
std::vector<double> starts(const Played&);

/// Returns a text such as "3ms" or "1.5ms".
std::string milliseconds(Duration);

/// Describes the outcome of an attempt.
std::string text(const policy::Outcome&);

/// Describes the actions that the exchange returned for the event.
std::string text(const policy::Actions&, const Event&);

/// Returns one line per attempt and per interruption.
std::string transcript(const Played&, const Script&);

}  // namespace reprise::play
