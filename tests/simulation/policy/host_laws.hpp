// Laws (invariants) for the circuit, pause and budget that requests to one host share. The laws compute all
// three again, from the events.
#pragma once

#include <optional>
#include <string_view>

#include "tests/simulation/policy/visit_laws.hpp"

namespace reprise::simulation {

class HostLaws {
 public:
  /// Precondition: the story outlives the laws.
  explicit HostLaws(const HostStory&);

  /// Judges one event. Call after the VisitLaws of the request have judged the event. `circuit` may be null.
  void after(const Happening&, const policy::Actions&, const policy::Exchange&, const VisitLaws&,
             const policy::Circuit* circuit, const policy::HostPause&);
  /// Judges the end of the story. `circuit` may be null. `spent`: the number of retries that were taken from
  /// the budget. `paid` and `decisions`: sums over all visits.
  void at_end(Instant now, policy::Circuit* circuit, double spent, std::size_t paid, std::size_t decisions);
  std::string_view broken() const { return broken_; }

 private:
  void require(bool holds, std::string_view law) {
    if (!holds && broken_.empty()) broken_ = law;
  }
  bool is_paused(Instant now) const { return pause_ && now < *pause_; }
  void judge_approach(const Happening&, const policy::Action&, const policy::Exchange&, const VisitLaws&);
  void admit(const Happening&, const VisitLaws&, unsigned number);
  void follow_probes(const VisitLaws&, bool stale);
  void judge_hedge(const Happening&, const policy::Exchange&);
  void hear(const Happening&, Instant admitted, bool stale, bool other_runs);

  /// An attempt that a half-open circuit admitted as a probe.
  struct Probe {
    const VisitLaws* visit;
    unsigned number;
    Instant since;
  };

  const policy::RoutePolicy& route_;
  std::optional<policy::Circuit> circuit_;
  std::vector<Probe> probes_;
  std::optional<Instant> pause_;
  std::string_view broken_;
};

}  // namespace reprise::simulation
