#include "proxy/policy/pacing/circuit.hpp"

namespace reprise::policy {

Circuit::Circuit(const CircuitPolicy& policy) : policy_(policy), recent_(policy.window) {}

Circuit::Slot& Circuit::slot_at(Instant now) {
  recent_.advance(now);
  return recent_.newest();
}

bool Circuit::is_over_the_limit() const {
  std::uint64_t all = 0;
  std::uint64_t failures = 0;
  for (const Slot& slot : recent_) {
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
  recent_.clear();
}

// An attempt that was admitted before the circuit opened may end while the circuit is open. Then its result
// is ignored: only the probe's result counts.
void Circuit::succeeded(Instant now, Instant admitted) {
  const std::scoped_lock lock(mutex_);
  if (open_until_) {
    if (admitted >= *open_until_) close();
    return;
  }
  ++slot_at(now).all;
}

void Circuit::failed(Instant now, Instant admitted) {
  const std::scoped_lock lock(mutex_);
  if (open_until_) {
    if (admitted >= *open_until_) open_at(now);
    return;
  }
  Slot& slot = slot_at(now);
  ++slot.all;
  ++slot.failed;
  if (is_over_the_limit()) open_at(now);
}

void Circuit::discard(Instant admitted) {
  const std::scoped_lock lock(mutex_);
  if (probe_since_ == admitted) probe_since_.reset();
}

Circuit::State Circuit::state(Instant now) const {
  const std::scoped_lock lock(mutex_);
  if (!open_until_) return State::closed;
  return now < *open_until_ ? State::open : State::half_open;
}

}  // namespace reprise::policy
