// What a policy is tried in: requests that come, and an upstream that their attempts meet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proxy/tools/simulate/event_queue.hpp"
#include "proxy/tools/simulate/measures.hpp"
#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

struct Arrival {
  Instant at{};
  std::uint32_t kind = 0;    ///< place in kinds()
  std::uint32_t client = 0;  ///< whose reprise it goes through
  std::uint64_t record = 0;  ///< which line of a log
};

/// What is known of an attempt when it begins: when it will have ended, or that this is open. Its end comes
/// as an event of the queue, if nobody stops waiting before.
struct Begun {
  std::optional<Instant> ends;
};

/// One per run. Time is the run's; it starts at Instant{}.
class World {
 public:
  virtual ~World() = default;
  virtual std::span<const RequestKind> kinds() const = 0;
  virtual std::uint64_t clients() const = 0;
  /// The next request, not before the one before it; nothing: no more come.
  virtual std::optional<Arrival> next() = 0;
  /// An attempt, the `nth` of its request from 1, reaches for the upstream.
  virtual Begun begin(const Ticket&, const Arrival&, unsigned nth, Instant now, EventQueue&, Measures&) = 0;
  /// A worker of the upstream is free: of `served` and of `refusal`.
  virtual void free_worker(Instant now, EventQueue&) = 0;
  /// What an event's `outcome` stands for.
  virtual const policy::Outcome& outcome(std::uint16_t) const = 0;
};

}  // namespace reprise::tools
