// The laws for what requests to one host share: circuit, pause
// and budget, each kept a second time from what was told.
#pragma once

#include <optional>
#include <string_view>

#include "tests/simulation/policy/visit_laws.hpp"

namespace reprise::simulation {

class HostLaws {
 public:
  /// Must be outlived by the story.
  explicit HostLaws(const HostStory&);

  /// After the laws of the visit have seen the same. `circuit` may be null.
  void after(const Happening&, const policy::Actions&, const policy::Exchange&, const VisitLaws&,
             const policy::Circuit* circuit, const policy::HostPause&);
  /// When every request is over. `spent` is what is missing from the budget.
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

  /// An attempt that was let through to a host that may be broken still.
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
