// The world in which a policy runs: requests that arrive, and an upstream that receives their attempts.
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
  std::uint32_t client = 0;  ///< the client whose reprise gets the request
  std::uint64_t record = 0;  ///< line number in a log
};

/// When a begun attempt will end; absent if that is not known yet. Its end arrives as an event of the queue,
/// unless the request stops waiting for it first.
struct AttemptStart {
  std::optional<Instant> ends;
};

/// One world per run. Time is that of the run, which starts at Instant{}.
class World {
 public:
  virtual ~World() = default;
  virtual std::span<const RequestKind> kinds() const = 0;
  virtual std::uint64_t clients() const = 0;
  /// Returns the next request, in order of time; nothing if no more arrive.
  virtual std::optional<Arrival> next() = 0;
  /// Sends an attempt to the upstream: the `nth` of its request, from 1.
  virtual AttemptStart begin(const Ticket&, const Arrival&, unsigned nth, Instant now, EventQueue&,
                             Measures&) = 0;
  /// Called when a worker of the upstream becomes free: on `served` and `refusal`.
  virtual void free_worker(Instant now, EventQueue&) = 0;
  /// Returns the outcome that an event's `outcome` number stands for.
  virtual const policy::Outcome& outcome(std::uint16_t) const = 0;
};

}  // namespace reprise::tools
