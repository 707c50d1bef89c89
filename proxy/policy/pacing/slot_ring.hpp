// A window of time that slides in slots: counts of the recent past,
// of which the oldest is forgotten slot by slot.
#pragma once

#include <array>
#include <cstdint>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// Which of the ring's slots a moment lies in: the window in tenths, and one slot more, because the window
/// may begin inside the oldest.
class SlotTimes {
 public:
  static constexpr std::int64_t tenths = 10;
  static constexpr std::int64_t slots = tenths + 1;

  /// `window` above zero; slots of a nanosecond are the shortest.
  explicit SlotTimes(Duration window);

  /// Moves the newest slot to that of `now`, and says how many slots (at most all) are entered by that. Time
  /// that seems to run backwards (another thread's slightly older now) lies in the newest slot.
  std::int64_t advance(Instant now);
  /// How many slots before the newest the moment lies: 0 for the newest and for what comes after it; `slots`
  /// or more for what is forgotten.
  std::int64_t age(Instant) const;
  /// Where the slot of that age lies in the ring.
  std::size_t index(std::int64_t age) const;

 private:
  std::int64_t number(Instant) const;

  const Duration::rep width_;
  std::int64_t newest_ = 0;
};

/// The ring itself. `Slot` holds the counts of a tenth of
/// the window; a fresh one is `Slot{}`. Not thread-safe.
template <typename Slot>
class SlotRing {
 public:
  explicit SlotRing(Duration window) : times_(window) {}

  /// Forgets what has left the window.
  void advance(Instant now) {
    for (std::int64_t age = times_.advance(now); age > 0; --age) ring_[times_.index(age - 1)] = {};
  }
  Slot& newest() { return ring_[times_.index(0)]; }
  const Slot& oldest() const { return ring_[times_.index(SlotTimes::slots - 1)]; }
  /// The slot of an earlier moment; null where it is forgotten.
  Slot* find(Instant earlier) {
    const std::int64_t age = times_.age(earlier);
    return age < SlotTimes::slots ? &ring_[times_.index(age)] : nullptr;
  }
  void clear() { ring_.fill({}); }
  auto begin() const { return ring_.begin(); }
  auto end() const { return ring_.end(); }

 private:
  SlotTimes times_;
  std::array<Slot, SlotTimes::slots> ring_{};
};

}  // namespace reprise::policy
