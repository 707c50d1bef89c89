// What is to happen, in the order of virtual time; what is
// due at once happens in the order in which it was asked.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::tools {

using policy::Duration;
using policy::Instant;

/// Which attempt of which request. A request that is over leaves its place to another `life`.
struct Ticket {
  std::uint32_t place = 0;
  std::uint32_t life = 0;
  std::uint32_t attempt = 0;  ///< from 1; 0: the request as a whole
};

struct Event {
  enum class Kind : std::uint8_t {
    reply,     ///< an attempt comes to `outcome`
    served,    ///< the same, and a worker of the upstream is free
    refusal,   ///< a worker is free that was busy refusing; nobody waits for it
    time_out,  ///< an attempt has had its time
    wake,      ///< a wait is over
    hedge,     ///< a copy is due
    departure  ///< the application gives up
  };
  Kind kind = Kind::reply;
  std::uint16_t outcome = 0;
  Ticket ticket;
  Instant at{};
};

/// A heap of four children each, which is shallower than one of two. Memory: 40 bytes an event.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// Only where it is not empty.
  Instant next_at() const {
    assert(!empty());
    return heap_.front().event.at;
  }

  void push(const Event& event) {
    heap_.push_back({event, order_++});
    std::size_t at = heap_.size() - 1;
    const Entry moved = heap_[at];
    while (at > 0) {
      const std::size_t parent = (at - 1) / width;
      if (!moved.before(heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = moved;
  }

  /// Only where it is not empty.
  Event pop() {
    assert(!empty());
    const Event first = heap_.front().event;
    const Entry moved = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(moved);
    return first;
  }

 private:
  static constexpr std::size_t width = 4;

  struct Entry {
    Event event;
    std::uint64_t order = 0;
    bool before(const Entry& other) const {
      return event.at != other.event.at ? event.at < other.event.at : order < other.order;
    }
  };

  void sink(const Entry& moved) {
    std::size_t at = 0;
    for (;;) {
      std::size_t least = at * width + 1;
      if (least >= heap_.size()) break;
      const std::size_t end = std::min(least + width, heap_.size());
      for (std::size_t child = least + 1; child < end; ++child) {
        if (heap_[child].before(heap_[least])) least = child;
      }
      if (!heap_[least].before(moved)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = moved;
  }

  std::vector<Entry> heap_;
  std::uint64_t order_ = 0;
};

}  // namespace reprise::tools
