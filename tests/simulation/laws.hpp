// The laws that can only be judged once a story is over, from what both ends saw and from the ledgers.
#pragma once

#include <string>

#include "proxy/telemetry/metrics/metrics.hpp"
#include "tests/simulation/book.hpp"
#include "tests/simulation/name_book.hpp"
#include "tests/simulation/scene.hpp"

namespace reprise::simulation {

using Totals = telemetry::Metrics::Totals;

/// What the ledgers of a story add up to.
struct Seen {
  std::uint64_t requests = 0;
  std::uint64_t attempts = 0;
  std::uint64_t retries = 0;
  std::uint64_t recovered = 0;

  void add(const telemetry::ExchangeRecord&);
};

/// The first law that does not hold; empty: all do.
std::string first_broken_law(Book& book, const Scene& scene, const Faults& faults, const NameBook& names);
/// Whether the counters have moved by what the ledgers say; empty: they have.
std::string unlike(const Totals& before, const Totals& after, const Seen& seen);

}  // namespace reprise::simulation
