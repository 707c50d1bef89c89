// The retry budget of one upstream: limits the retries of all requests together, so that retries cannot
// become a storm.
#pragma once

#include <cstdint>
#include <mutex>

#include "proxy/policy/pacing/slot_ring.hpp"

namespace reprise::policy {

/// The rule for each `window`: retries scheduled <= ratio * first attempts + floor_per_second * window.
struct BudgetPolicy {
  double ratio = 0.2;            ///< 0 to 1
  double floor_per_second = 10;  ///< retries per second that are always allowed
  Duration window = std::chrono::seconds(10);

  bool operator==(const BudgetPolicy&) const = default;
};

/// The budget of one upstream host:port, full at first. Thread-safe; shared by all io threads.
class Budget {
 public:
  explicit Budget(const BudgetPolicy&);

  /// Counts a first attempt that was sent.
  void deposit(Instant now);
  /// Returns how many whole retries may still be scheduled; never negative.
  double left(Instant now);
  /// Takes one retry from the budget. Returns false if none is left. Call when the wait is scheduled, so that
  /// waiting retries count too.
  [[nodiscard]] bool withdraw(Instant now);
  /// Returns to the budget the retry that was withdrawn at `taken`. Call if the retry never started or ended
  /// without having sent a byte.
  void refund(Instant taken, Instant now);
  /// Returns `left` as a fraction (0 to 1) of what would be left if no retry had been made. The gauge shows
  /// this value.
  double available_ratio(Instant now);

 private:
  // The window begins inside the oldest slot. The retries in that slot still count and the first attempts in
  // it do not, so that the rule holds in every window.
  struct Slot {
    std::uint64_t firsts = 0;
    std::uint64_t retries = 0;
  };

  double allowance() const;
  std::uint64_t spent() const;

  const BudgetPolicy policy_;
  std::mutex mutex_;
  SlotRing<Slot> recent_;
};

}  // namespace reprise::policy
