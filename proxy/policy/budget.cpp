#include "proxy/policy/budget.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::policy {

Budget::Budget(const BudgetPolicy& policy) : policy_(policy) {}

std::int64_t Budget::slot_number(Instant at) const {
  const auto width = std::max<Duration::rep>(1, policy_.window.count() / static_cast<Duration::rep>(tenths));
  return std::chrono::duration_cast<Duration>(at.time_since_epoch()).count() / width;
}

// Empties the slots that have left the window. Time that seems to run backwards (another thread's slightly
// older now) counts into the newest slot.
void Budget::advance(Instant now) {
  const std::int64_t number = slot_number(now);
  if (!started_) {
    started_ = true;
    newest_ = number;
    return;
  }
  if (number <= newest_) return;
  const auto steps = std::min<std::int64_t>(number - newest_, static_cast<std::int64_t>(slots));
  for (std::int64_t i = 1; i <= steps; ++i) {
    ring_[static_cast<std::size_t>((newest_ + i) % static_cast<std::int64_t>(slots))] = {};
  }
  newest_ = number;
}

double Budget::allowance() const {
  std::uint64_t firsts = 0;
  const auto oldest = static_cast<std::size_t>((newest_ + 1) % static_cast<std::int64_t>(slots));
  for (std::size_t i = 0; i < slots; ++i) firsts += i == oldest ? 0 : ring_[i].firsts;
  const double seconds = std::chrono::duration<double>(policy_.window).count();
  return policy_.ratio * static_cast<double>(firsts) + policy_.floor_per_second * seconds;
}

std::uint64_t Budget::spent() const {
  std::uint64_t retries = 0;
  for (const Slot& slot : ring_) retries += slot.retries;
  return retries;
}

void Budget::deposit(Instant now) {
  const std::scoped_lock lock(mutex_);
  advance(now);
  ++ring_[static_cast<std::size_t>(newest_ % static_cast<std::int64_t>(slots))].firsts;
}

double Budget::left(Instant now) {
  const std::scoped_lock lock(mutex_);
  advance(now);
  return std::max(0.0, std::floor(allowance() - static_cast<double>(spent())));
}

bool Budget::withdraw(Instant now) {
  const std::scoped_lock lock(mutex_);
  advance(now);
  if (static_cast<double>(spent()) + 1 > allowance()) return false;
  ++ring_[static_cast<std::size_t>(newest_ % static_cast<std::int64_t>(slots))].retries;
  return true;
}

void Budget::refund(Instant taken, Instant now) {
  const std::scoped_lock lock(mutex_);
  advance(now);
  const std::int64_t number = std::min(slot_number(taken), newest_);
  if (newest_ - number >= static_cast<std::int64_t>(slots)) return;
  Slot& slot = ring_[static_cast<std::size_t>(number % static_cast<std::int64_t>(slots))];
  if (slot.retries > 0) --slot.retries;
}

double Budget::available_ratio(Instant now) {
  const std::scoped_lock lock(mutex_);
  advance(now);
  const double whole = allowance();
  if (whole <= 0) return 0;
  return std::clamp((whole - static_cast<double>(spent())) / whole, 0.0, 1.0);
}

}  // namespace reprise::policy
