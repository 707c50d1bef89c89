#include "proxy/policy/decision/hedge_race.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

namespace reprise::policy {
struct HedgeRace::Transition {
  State state;
  Event event;
  Step step;
};

// Lists every event that can occur while the race is on. A copy counts as cancelled until it ends.
constinit const std::array<HedgeRace::Transition, 11> HedgeRace::transitions{{
    {State::both, Event::first_failed, {State::second, HedgeOutcome::cancelled, Entry::outcome, Entry::none}},
    {State::both, Event::second_failed, {State::first, HedgeOutcome::failed, Entry::none, Entry::outcome}},
    {State::both, Event::first_won, {State::off, HedgeOutcome::lost, Entry::outcome, Entry::cancelled}},
    {State::both, Event::second_won, {State::off, HedgeOutcome::won, Entry::cancelled, Entry::outcome}},
    {State::both,
     Event::abandoned,
     {State::off, HedgeOutcome::cancelled, Entry::cancelled, Entry::cancelled}},
    {State::first, Event::first_failed, {State::off, HedgeOutcome::failed, Entry::outcome, Entry::verdict}},
    {State::first, Event::first_won, {State::off, HedgeOutcome::failed, Entry::outcome, Entry::verdict}},
    {State::first, Event::abandoned, {State::off, HedgeOutcome::failed, Entry::cancelled, Entry::verdict}},
    {State::second, Event::second_failed, {State::off, HedgeOutcome::failed, Entry::none, Entry::outcome}},
    {State::second, Event::second_won, {State::off, HedgeOutcome::won, Entry::none, Entry::outcome}},
    {State::second, Event::abandoned, {State::off, HedgeOutcome::cancelled, Entry::none, Entry::cancelled}},
}};

void HedgeRace::plan(std::optional<Instant> due) {
  assert(!is_on());
  state_ = due ? State::due : State::off;
  if (due) due_ = *due;
}

std::optional<Instant> HedgeRace::due() const {
  return state_ == State::due ? std::optional(due_) : std::nullopt;
}

void HedgeRace::start(Instant first_started) {
  assert(!is_on());
  state_ = State::both;
  first_started_ = first_started;
  hints_ = {};
}

HedgeRace::Step HedgeRace::end(unsigned number, bool wins) {
  assert(is_on());
  if (number == first) return step(wins ? Event::first_won : Event::first_failed);
  return step(wins ? Event::second_won : Event::second_failed);
}

HedgeRace::Step HedgeRace::step(Event event) {
  const auto* row = std::find_if(transitions.begin(), transitions.end(), [&](const Transition& candidate) {
    return candidate.state == state_ && candidate.event == event;
  });
  assert(row != transitions.end());
  state_ = row->step.next;
  return row->step;
}

void HedgeRace::remember(const Hints& hints, Instant now) {
  hints_ = hints;
  hints_at_ = now;
}

Hints HedgeRace::hints_left(Instant now) const {
  Hints left = hints_;
  const auto less = [&](std::optional<Duration> pause) {
    return pause ? std::optional(std::max(*pause - (now - hints_at_), Duration::zero())) : pause;
  };
  left.retry_after = less(left.retry_after);
  left.aws_retry_after = less(left.aws_retry_after);
  return left;
}

}  // namespace reprise::policy
