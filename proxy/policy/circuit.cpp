#include "proxy/policy/circuit.hpp"

#include <algorithm>

namespace reprise::policy {

Circuit::Circuit(const CircuitPolicy& policy) : policy_(policy) {}

std::int64_t Circuit::slot_number(Instant at) const {
  // One slot less than there are: the window may begin inside the oldest.
  const auto width =
      std::max<Duration::rep>(1, policy_.window.count() / static_cast<Duration::rep>(slots - 1));
  return std::chrono::duration_cast<Duration>(at.time_since_epoch()).count() / width;
}

Circuit::Slot& Circuit::slot_at(Instant now) {
  constexpr auto count = static_cast<std::int64_t>(slots);
  const std::int64_t number = std::max(slot_number(now), newest_);
  const std::int64_t passed = std::min(number - newest_, count);
  for (std::int64_t i = 0; i < passed; ++i) ring_[static_cast<std::size_t>((number - i) % count)] = {};
  newest_ = number;
  return ring_[static_cast<std::size_t>(number % count)];
}

bool Circuit::is_over_the_limit() const {
  std::uint64_t all = 0;
  std::uint64_t failures = 0;
  for (const Slot& slot : ring_) {
    all += slot.all;
    failures += slot.failed;
  }
  return all >= policy_.requests &&
         static_cast<double>(failures) >= policy_.failures * static_cast<double>(all);
}

bool Circuit::admit(Instant now) {
  const std::scoped_lock lock(mutex_);
  if (!open_until_) return true;
  if (now < *open_until_) return false;
  if (probe_since_ && now - *probe_since_ < policy_.open) return false;
  probe_since_ = now;
  return true;
}

void Circuit::open_at(Instant now) {
  open_until_ = now + policy_.open;
  probe_since_.reset();
}

void Circuit::close() {
  open_until_.reset();
  probe_since_.reset();
  ring_.fill({});
}

// While the circuit is open, what was admitted before still ends; only a probe's word counts then.
void Circuit::succeeded(Instant now) {
  const std::scoped_lock lock(mutex_);
  if (open_until_) {
    if (probe_since_) close();
    return;
  }
  ++slot_at(now).all;
}

void Circuit::failed(Instant now) {
  const std::scoped_lock lock(mutex_);
  if (open_until_) {
    if (probe_since_) open_at(now);
    return;
  }
  Slot& slot = slot_at(now);
  ++slot.all;
  ++slot.failed;
  if (is_over_the_limit()) open_at(now);
}

void Circuit::forget(Instant) {
  const std::scoped_lock lock(mutex_);
  probe_since_.reset();
}

Circuit::State Circuit::state(Instant now) const {
  const std::scoped_lock lock(mutex_);
  if (!open_until_) return State::closed;
  return now < *open_until_ ? State::open : State::half_open;
}

}  // namespace reprise::policy
