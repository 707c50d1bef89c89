// The circuit breaker of one upstream host. After too many failures no attempt is sent for a while; then one
// probe decides.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "proxy/policy/pacing/slot_ring.hpp"

namespace reprise::policy {

/// The circuit opens when at least `requests` attempts ended within `window` and the fraction `failures` of
/// them failed.
struct CircuitPolicy {
  double failures = 0.5;  ///< fraction of the attempts, above 0, at most 1
  Duration window = std::chrono::seconds(10);
  unsigned requests = 20;
  Duration open = std::chrono::seconds(5);  ///< time without attempts before a probe

  bool operator==(const CircuitPolicy&) const = default;
};

/// Thread-safe; shared by all io threads. Report the end of every admitted attempt with exactly one of
/// succeeded, failed and discard, and with the time of its admission. While the circuit is open or half open,
/// only attempts admitted after the open period count.
class Circuit {
 public:
  enum class State : std::uint8_t { closed, half_open, open };

  explicit Circuit(const CircuitPolicy&);

  /// Returns true if an attempt may start now. A half-open circuit admits one probe at a time. If a probe has
  /// no result after the time `open`, the next probe may start.
  [[nodiscard]] bool admit(Instant now);
  void succeeded(Instant now, Instant admitted);
  void failed(Instant now, Instant admitted);
  /// Discards an admitted attempt whose end says nothing about the host, for example because it was
  /// cancelled.
  void discard(Instant admitted);
  State state(Instant now) const;

 private:
  struct Slot {
    std::uint64_t all = 0;
    std::uint64_t failed = 0;
  };

  Slot& slot_at(Instant now);
  bool is_over_the_limit() const;
  void open_at(Instant now);
  void close();

  const CircuitPolicy policy_;
  mutable std::mutex mutex_;
  SlotRing<Slot> recent_;
  std::optional<Instant> open_until_;   ///< end of the open period; absent while the circuit is closed
  std::optional<Instant> probe_since_;  ///< start of the probe under way; absent if there is none
};

}  // namespace reprise::policy
