// The events of a run, ordered by virtual time. Events at the same time keep the order in which they were
// added.
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

/// Identifies an attempt of a request. After the request ends, another request may use the same `place`, with
/// another `life`.
struct Ticket {
  std::uint32_t place = 0;
  std::uint32_t life = 0;
  /// Number of the attempt, counted from 1; 0 if the ticket identifies the request, not one of its attempts.
  std::uint32_t attempt = 0;
};

struct Event {
  enum class Kind : std::uint8_t {
    reply,     ///< an attempt that occupied no worker ends with `outcome`
    served,    ///< an attempt ends with `outcome`, and the worker that served it is free
    refusal,   ///< a worker has finished a rejection and is free; no attempt waits for this event
    time_out,  ///< an attempt has timed out
    wake,      ///< a wait that the request's state machine required is over
    hedge,     ///< the hedge delay of an attempt is over: a copy of the attempt may start
    departure  ///< the application stops waiting for the response
  };
  Kind kind = Kind::reply;
  std::uint16_t outcome = 0;
  Ticket ticket;
  Instant at{};
};

/// A heap with four children per node, which is less deep than a binary heap. Memory: 40 bytes per event.
class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  /// Returns the time of the first event. Precondition: the queue is not empty.
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

  /// Removes and returns the first event. Precondition: the queue is not empty.
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
