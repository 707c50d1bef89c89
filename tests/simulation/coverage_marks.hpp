// Coverage marks, what stories have reached: reasons, stages and causes of failures, endings, faults.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/telemetry/log/exchange_record.hpp"
#include "tests/simulation/fault.hpp"

namespace reprise::simulation {

/// Adds up over stories; not thread-safe, one per thread.
struct CoverageMarks {
  std::array<std::uint64_t, policy::reason_count> reasons{};  ///< of attempts and of exchanges
  std::array<std::array<std::uint64_t, policy::cause_count>, policy::stage_count>
      failures{};  ///< by stage and cause
  std::array<std::uint64_t, 3> endings{};
  FaultCounts faults{};
  std::uint64_t intercepted = 0;        ///< requests over TLS that is ended here
  std::uint64_t intercepted_again = 0;  ///< of them those with more than one attempt

  void count(const telemetry::ExchangeRecord&);
  void add(const CoverageMarks&);
  /// What `stories` stories must reach and have not: at least one in a thousand each, once there are enough
  /// of them to tell.
  std::vector<std::string> missing(std::uint64_t stories) const;
  /// The failures that were reached and are not known to be possible here.
  std::vector<std::string> unexpected() const;
  /// Every mark with its number, for people.
  std::string table() const;
};

}  // namespace reprise::simulation
