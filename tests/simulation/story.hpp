// A story is one simulated run, drawn from one seed: a proxy, its clients and its upstreams, in memory and in
// virtual time. Laws (invariants) judge it.
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

/// Objects that many stories on one thread share, because they take longer to create than a story takes.
class Stage {
 public:
  Stage();
  telemetry::Metrics metrics;
  telemetry::Log log;
  std::shared_ptr<const net::AddressFilter> filter;
  std::shared_ptr<const net::TlsClients> tls;  ///< TLS settings for a table of one route
};

struct Play {
  Seed seed;
  std::vector<std::uint32_t> left_out;  ///< numbers of the faults to leave out, sorted
  bool tells = false;                   ///< write a transcript to standard error
  Canary canary = Canary::none;
};

struct Played {
  std::string broken;  ///< first broken law; empty if all hold
  std::uint64_t hash = 0;
  std::uint64_t steps = 0;
  std::uint64_t requests = 0;
  std::uint32_t faults = 0;  ///< number of faults that happened or were left out
  FaultCounts fault_counts{};
};

Played play(Stage& stage, const Play& what, CoverageMarks& marks);

}  // namespace reprise::simulation
