// A sliding time window, divided into slots that expire one by one.
#pragma once

#include <array>
#include <cstdint>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// Maps a point in time to a slot of the ring. A slot is a tenth of the window. The ring has one slot more
/// than ten, because the window may begin inside the oldest slot.
class SlotTimes {
 public:
  static constexpr std::int64_t tenths = 10;
  static constexpr std::int64_t slots = tenths + 1;

  /// Precondition: `window` is above zero. A slot lasts at least one nanosecond.
  explicit SlotTimes(Duration window);

  /// Makes the slot that contains `now` the newest slot. Returns the number of new slots, at most `slots`. If
  /// `now` is earlier than the newest slot (another thread may pass such a time), changes nothing and returns
  /// 0.
  std::int64_t advance(Instant now);
  /// Returns the age of the slot that contains the time, in slots: 0 for the newest slot or a later time,
  /// `slots` or more if the slot has expired.
  std::int64_t age(Instant) const;
  /// Returns the ring index of the slot that is `age` slots older than the newest.
  std::size_t index(std::int64_t age) const;

 private:
  std::int64_t number(Instant) const;

  const Duration::rep width_;
  std::int64_t newest_ = 0;
};

/// The ring of slots. `Slot` holds the counts of one slot; `Slot{}` is an empty one. Not thread-safe.
template <typename Slot>
class SlotRing {
 public:
  explicit SlotRing(Duration window) : times_(window) {}

  /// Clears the slots that have left the window.
  void advance(Instant now) {
    for (std::int64_t age = times_.advance(now); age > 0; --age) ring_[times_.index(age - 1)] = {};
  }
  Slot& newest() { return ring_[times_.index(0)]; }
  const Slot& oldest() const { return ring_[times_.index(SlotTimes::slots - 1)]; }
  /// Returns the slot of an earlier time. Null if that slot has expired.
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
