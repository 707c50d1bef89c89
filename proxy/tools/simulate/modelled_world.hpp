// The world of a model: random arrivals, and an upstream with workers, a queue, outages, errors and a rate
// limit.
#pragma once

#include <deque>

#include "proxy/tools/simulate/world.hpp"

namespace reprise::tools {

class ModelledWorld final : public World {
 public:
  /// Precondition: `model` outlives the world, and contradiction() finds no fault in it.
  explicit ModelledWorld(const Model& model);

  std::span<const RequestKind> kinds() const override { return model_.mix; }
  std::uint64_t clients() const override { return model_.clients; }
  std::optional<Arrival> next() override;
  AttemptStart begin(const Ticket&, const Arrival&, unsigned nth, Instant now, EventQueue&,
                     Measures&) override;
  void free_worker(Instant now, EventQueue&) override;
  const policy::Outcome& outcome(std::uint16_t place) const override { return outcomes_[place]; }

 private:
  struct Queued {
    Ticket ticket;
    std::uint16_t outcome = 0;
  };

  std::optional<Instant> next_of_rate();
  std::uint16_t add(const policy::Outcome&);
  AttemptStart reply(const Ticket&, std::uint16_t outcome, Instant now, EventQueue&) const;
  AttemptStart meet(const Trouble&, std::uint16_t outcome, const Ticket&, Instant now, EventQueue&) const;
  bool is_over_limit(Instant now);
  const ErrorShare* draw_error();
  Instant serve(const Queued&, Instant now, EventQueue&);
  AttemptStart reject(const Ticket&, Instant now, EventQueue&, Measures&);

  const Model& model_;
  Chance arriving_;
  Chance mixing_;
  Chance working_;
  Chance failing_;
  std::vector<Instant> bursts_;  ///< times of the requests in bursts, latest first
  std::uint64_t count_ = 0;
  Instant last_{};
  std::optional<Instant> coming_;
  /// Outcomes of attempts: 200, 503 and 429, then one for each outage and for each error of the model.
  std::vector<policy::Outcome> outcomes_;
  std::size_t first_error_ = 0;  ///< index of the first error in outcomes_
  std::uint64_t busy_ = 0;
  std::deque<Queued> queue_;
  std::uint64_t refusals_ = 0;  ///< rejections that wait for a free worker
  double tokens_ = 0;
  Instant filled_{};
};

}  // namespace reprise::tools
