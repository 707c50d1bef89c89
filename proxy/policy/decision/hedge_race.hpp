// The race of attempt 1 and its hedged copy: which of them run, and what happens if one of them ends.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "proxy/policy/decision/hedge.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::policy {

/// Owned by `Exchange`. Attempt 1 may get one copy; every other attempt runs without a race.
///
///   state    event                       next
///   off      plan                        due, if there is a time for the copy
///   due      drop, or attempt 1 ends     off
///            start                       both
///   both     one attempt fails           the state of the other
///            one attempt wins, abandon   off
///   first    any end, abandon            off
///   second   any end, abandon            off
///
/// `step` reads the last five rows from a table. The table also defines what the ledger records about each
/// attempt.
class HedgeRace {
 public:
  /// `both`, `first` and `second` name the attempts that run while the race is on.
  enum class State : std::uint8_t { off, due, both, first, second };
  /// An attempt wins with a response that would not be retried (`ends_race`), and fails otherwise. The race
  /// is abandoned if the client resets its connection.
  enum class Event : std::uint8_t { first_failed, first_won, second_failed, second_won, abandoned };
  /// What a step records in the ledger about an attempt.
  enum class Entry : std::uint8_t {
    none,
    outcome,    ///< records the outcome of the attempt
    verdict,    ///< records only the verdict: an earlier step has recorded the outcome
    cancelled,  ///< records a cancellation: the attempt still runs and must be stopped
  };
  struct Step {
    State next = State::off;
    HedgeOutcome copy = HedgeOutcome::none;
    Entry first = Entry::none;
    Entry second = Entry::none;
  };
  /// Numbers of attempt 1 and of its copy.
  static constexpr unsigned first = 1;
  static constexpr unsigned second = 2;

  /// Records the start of attempt 1. `due` is the time at which its copy starts; absent if there is no copy.
  /// Precondition: no race is running.
  void plan(std::optional<Instant> due);
  /// Records that attempt 1 gets no copy after all. Precondition: no race is running.
  void drop() { state_ = State::off; }
  /// Returns when the copy is due; nothing if the copy has started or may not start.
  std::optional<Instant> due() const;
  /// Records that the copy starts. `first_started` is when attempt 1 started, which is also when the circuit
  /// admitted it. Precondition: no race is running.
  void start(Instant first_started);

  bool is_on() const { return state_ > State::due; }
  bool both_run() const { return state_ == State::both; }
  /// Returns when attempt 1 started. Precondition: the race is on.
  Instant first_started() const { return first_started_; }
  /// Returns the number of the attempt that a report is about. A report with number 0 is about the only
  /// running attempt: `latest`, or attempt 1 if its copy ended first. Precondition: `reported` is not 0 while
  /// both run.
  unsigned number_of(unsigned reported, unsigned latest) const {
    if (reported != 0 || state_ == State::both) return reported;
    return state_ == State::first ? first : latest;
  }
  /// Returns true if attempt `number` runs. Precondition: the race is on, or attempt `latest` runs.
  bool runs(unsigned number, unsigned latest) const {
    if (!is_on()) return number == latest;
    return number == first ? state_ != State::second : number == second && state_ != State::first;
  }
  /// Records the end of attempt `number`. Precondition: the race is on, and the attempt runs.
  Step end(unsigned number, bool wins);
  /// Ends the race; every attempt that still runs must be stopped. Precondition: the race is on.
  Step abandon() { return step(Event::abandoned); }

  /// Stores the hints of the response with which one of the two attempts failed.
  void remember(const Hints&, Instant now);
  /// Returns the hints that `remember` stored. Their pauses are shortened by the time since that call.
  /// Precondition: the race is on.
  Hints hints_left(Instant now) const;

 private:
  struct Transition;
  static const std::array<Transition, 11> transitions;

  Step step(Event);

  State state_ = State::off;
  Instant due_{};
  Instant first_started_{};
  Hints hints_{};
  Instant hints_at_{};
};

}  // namespace reprise::policy
