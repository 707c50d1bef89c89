// One story from one seed: a proxy, its clients and its upstreams, in memory and in virtual time, and the
// laws that it must obey.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proxy/net/tls/tls_client.hpp"
#include "proxy/net/upstream/address_filter.hpp"
#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"
#include "tests/simulation/canary.hpp"
#include "tests/simulation/coverage_marks.hpp"
#include "tests/simulation/fault.hpp"
#include "tests/simulation/purpose.hpp"

namespace reprise::simulation {

/// What many stories on one thread share, because it costs more to make than a story.
class Stage {
 public:
  Stage();
  telemetry::Metrics metrics;
  telemetry::Log log;
  std::shared_ptr<const net::AddressFilter> filter;
  std::shared_ptr<const net::TlsClients> tls;  ///< of one route
};

struct Play {
  Seed seed;
  std::vector<std::uint32_t> left_out;  ///< faults by number, in order
  bool tells = false;                   ///< writes a transcript to standard error
  Canary canary = Canary::none;
};

struct Played {
  std::string broken;  ///< the first law that does not hold; empty: all do
  std::uint64_t hash = 0;
  std::uint64_t steps = 0;
  std::uint64_t requests = 0;
  std::uint32_t faults = 0;  ///< how many happened, left out or not
  FaultCounts fault_counts{};
};

Played play(Stage& stage, const Play& what, CoverageMarks& marks);

}  // namespace reprise::simulation
