// The circuit of one upstream host: after too many failures
// nothing is sent for a while, then one probe decides.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "proxy/policy/pacing/slot_ring.hpp"

namespace reprise::policy {

/// Opens when, within `window`, at least `requests` attempts were seen and `failures` of them failed.
struct CircuitPolicy {
  double failures = 0.5;  ///< share, above 0, at most 1
  Duration window = std::chrono::seconds(10);
  unsigned requests = 20;
  Duration open = std::chrono::seconds(5);  ///< how long nothing is sent before a probe

  bool operator==(const CircuitPolicy&) const = default;
};

/// Thread-safe; shared by all io threads. Every admitted attempt is reported back by exactly one of
/// succeeded, failed, forget, with the moment at which it was admitted: while the circuit is open, only what
/// was admitted since counts.
class Circuit {
 public:
  enum class State : std::uint8_t { closed, half_open, open };

  explicit Circuit(const CircuitPolicy&);

  /// Whether an attempt may start now. Half-open admits one probe at a time; a probe that is not heard of
  /// within `open` is given up.
  [[nodiscard]] bool admit(Instant now);
  void succeeded(Instant now, Instant admitted);
  void failed(Instant now, Instant admitted);
  /// An admitted attempt that says nothing of the host: cancelled, for one.
  void forget(Instant admitted);
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
  std::optional<Instant> open_until_;   ///< set while not closed
  std::optional<Instant> probe_since_;  ///< set while a probe is under way
};

}  // namespace reprise::policy
