// Laws (invariants) that are judged at the end of a story, from the observations of both ends and from the
// ledgers.
#pragma once

#include <string>

#include "proxy/telemetry/metrics/metrics.hpp"
#include "tests/simulation/book.hpp"
#include "tests/simulation/name_book.hpp"
#include "tests/simulation/scene.hpp"

namespace reprise::simulation {

using Totals = telemetry::Metrics::Totals;

/// Sums over the ledgers of a story.
struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t attempts = 0;
  std::uint64_t retries = 0;
  std::uint64_t recovered = 0;

  void add(const telemetry::ExchangeRecord&);
};

/// Returns the first broken law; empty if all hold.
std::string first_broken_law(Book& book, const Scene& scene, const Faults& faults, const NameBook& names);
/// Compares the growth of the counters with the ledgers. Returns the broken law; empty if they agree.
std::string unlike(const Totals& before, const Totals& after, const Seen& seen);

}  // namespace reprise::simulation
