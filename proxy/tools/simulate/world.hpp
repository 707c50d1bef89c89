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
  std::uint32_t kind = 0;    ///< index in kinds()
  std::uint32_t client = 0;  ///< index of the client; each client has its own reprise
  std::uint64_t record = 0;  ///< index of the request in the replayed log; unused in a modelled world
};

/// The time at which a started attempt will end; absent if the time is not known yet. The world adds an event
/// for the end of the attempt to the queue, unless the upstream never responds.
struct AttemptStart {
  std::optional<Instant> ends;
};

/// The world of one run. All times count from the start of the run, which is Instant{}.
class World {
 public:
  virtual ~World() = default;
  virtual std::span<const RequestKind> kinds() const = 0;
  virtual std::uint64_t clients() const = 0;
  /// Returns the next request in order of time; nothing if no more requests arrive.
  virtual std::optional<Arrival> next() = 0;
  /// Sends an attempt to the upstream. `nth` is the number of the attempt within its request, counted from 1.
  virtual AttemptStart begin(const Ticket&, const Arrival&, unsigned nth, Instant now, EventQueue&,
                             Measures&) = 0;
  /// Notifies the upstream that a worker is free. Called on the events `served` and `refusal`.
  virtual void free_worker(Instant now, EventQueue&) = 0;
  /// Returns the outcome with this index, which is the member `outcome` of an event.
  virtual const policy::Outcome& outcome(std::uint16_t) const = 0;
};

}  // namespace reprise::tools
