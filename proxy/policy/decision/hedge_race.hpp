// The race of attempt 1 and its copy: which of the two run, and what the end of either one means.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "proxy/policy/decision/hedge.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::policy {

/// `Exchange` owns one. Attempt 1 may get one copy; every other attempt runs without a race.
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
/// `step` takes the last five rows from a table that says what becomes of either attempt, too.
class HedgeRace {
 public:
  /// `both`, `first` and `second` name the attempts that run while the race is on.
  enum class State : std::uint8_t { off, due, both, first, second };
  /// An attempt wins with a response that nobody would ask for again (`ends_race`), and fails otherwise. The
  /// race is abandoned if the client resets its connection.
  enum class Event : std::uint8_t { first_failed, first_won, second_failed, second_won, abandoned };
  /// What a step writes in the ledger about an attempt.
  enum class Entry : std::uint8_t {
    none,
    outcome,    ///< how the attempt ended
    verdict,    ///< the verdict alone: how the attempt ended was written by an earlier step
    cancelled,  ///< that the attempt is cancelled: it runs, and is to be stopped
  };
  struct Step {
    State next = State::off;
    HedgeOutcome copy = HedgeOutcome::none;
    Entry first = Entry::none;
    Entry second = Entry::none;
  };
  /// Numbers of the two attempts.
  static constexpr unsigned first = 1;
  static constexpr unsigned second = 2;

  /// Attempt 1 starts; its copy is due then, if ever. Precondition: the race is not on.
  void plan(std::optional<Instant> due);
  /// Attempt 1 gets no copy any more. Precondition: the race is not on.
  void drop() { state_ = State::off; }
  /// When the copy is due, unless the race is on or no copy may start.
  std::optional<Instant> due() const;
  /// The copy starts. `first_started`: when attempt 1 did, and was let in by the circuit. Precondition: the
  /// race is not on.
  void start(Instant first_started);

  bool is_on() const { return state_ > State::due; }
  bool both_run() const { return state_ == State::both; }
  /// Precondition: the race is on.
  Instant first_started() const { return first_started_; }
  /// Returns the number of the attempt that a report is about. A report with number 0 is about the only one
  /// that runs: `latest`, unless attempt 1 outlived its copy. While both run, it is about neither.
  unsigned number_of(unsigned reported, unsigned latest) const {
    if (reported != 0 || state_ == State::both) return reported;
    return state_ == State::first ? first : latest;
  }
  /// True if that attempt runs. Precondition: the race is on, or attempt `latest` runs.
  bool runs(unsigned number, unsigned latest) const {
    if (!is_on()) return number == latest;
    return number == first ? state_ != State::second : number == second && state_ != State::first;
  }
  /// Attempt `number` ends. Precondition: the race is on, and the attempt runs.
  Step end(unsigned number, bool wins);
  /// Both attempts, or the one that is left, are to be stopped. Precondition: the race is on.
  Step abandon() { return step(Event::abandoned); }

  /// Remembers the hints of the response that an attempt has failed with.
  void remember(const Hints&, Instant now);
  /// Returns what is left of these hints: a pause runs from the response that asked for it. Precondition: the
  /// race is on.
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
