// How much retrying all requests to one upstream host may do, so that retries cannot become a storm.
#pragma once

#include <cstdint>
#include <mutex>

#include "proxy/policy/pacing/slot_ring.hpp"

namespace reprise::policy {

/// Retries scheduled in the last `window` <= ratio * first attempts in it + floor_per_second * window.
struct BudgetPolicy {
  double ratio = 0.2;            ///< 0 to 1
  double floor_per_second = 10;  ///< retries a second that are always there
  Duration window = std::chrono::seconds(10);

  bool operator==(const BudgetPolicy&) const = default;
};

/// The account of one upstream host:port. Thread-safe; shared by all io threads. It starts full.
class Budget {
 public:
  explicit Budget(const BudgetPolicy&);

  /// Counts a first attempt that went out.
  void deposit(Instant now);
  /// Whole retries that may still be scheduled; never negative.
  double left(Instant now);
  /// Takes one retry, or says that none is left. Counted when a wait is scheduled, so waits count.
  [[nodiscard]] bool withdraw(Instant now);
  /// Gives back a retry that was taken at `taken` and never started, or ended without having sent a byte.
  void refund(Instant taken, Instant now);
  /// left / (what would be left had nobody retried), 0 to 1: the gauge.
  double available_ratio(Instant now);

 private:
  // The oldest slot is cut by the window's edge. A retry in it counts still and a first attempt in it no
  // longer, so that the promise holds in every window.
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
