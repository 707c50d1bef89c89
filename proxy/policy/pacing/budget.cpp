#include "proxy/policy/pacing/budget.hpp"

#include <algorithm>
#include <cmath>

namespace reprise::policy {

Budget::Budget(const BudgetPolicy& policy) : policy_(policy), recent_(policy.window) {}

double Budget::allowance() const {
  std::uint64_t firsts = 0;
  for (const Slot& slot : recent_) firsts += slot.firsts;
  firsts -= recent_.oldest().firsts;
  const double seconds = std::chrono::duration<double>(policy_.window).count();
  return policy_.ratio * static_cast<double>(firsts) + policy_.floor_per_second * seconds;
}

std::uint64_t Budget::spent() const {
  std::uint64_t retries = 0;
  for (const Slot& slot : recent_) retries += slot.retries;
  return retries;
}

void Budget::deposit(Instant now) {
  const std::scoped_lock lock(mutex_);
  recent_.advance(now);
  ++recent_.newest().firsts;
}

double Budget::left(Instant now) {
  const std::scoped_lock lock(mutex_);
  recent_.advance(now);
  return std::max(0.0, std::floor(allowance() - static_cast<double>(spent())));
}

bool Budget::withdraw(Instant now) {
  const std::scoped_lock lock(mutex_);
  recent_.advance(now);
  if (static_cast<double>(spent()) + 1 > allowance()) return false;
  ++recent_.newest().retries;
  return true;
}

void Budget::refund(Instant taken, Instant now) {
  const std::scoped_lock lock(mutex_);
  recent_.advance(now);
  Slot* const slot = recent_.find(taken);
  if (slot != nullptr && slot->retries > 0) --slot->retries;
}

double Budget::available_ratio(Instant now) {
  const std::scoped_lock lock(mutex_);
  recent_.advance(now);
  const double whole = allowance();
  if (whole <= 0) return 0;
  return std::clamp((whole - static_cast<double>(spent())) / whole, 0.0, 1.0);
}

}  // namespace reprise::policy
