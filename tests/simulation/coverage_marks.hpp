// Coverage marks: counts of what stories reached (reasons, failures by stage and cause, endings, faults).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "proxy/telemetry/log/exchange_record.hpp"
#include "tests/simulation/fault.hpp"
#include "tests/simulation/http2_marks.hpp"

namespace reprise::simulation {

/// Counts of what stories reached. Not thread-safe: each thread has its own object.
struct CoverageMarks {
  /// For each reason: the number of retries and of finished requests with this reason.
  std::array<std::uint64_t, policy::reason_count> reasons{};
  std::array<std::array<std::uint64_t, policy::cause_count>, policy::stage_count>
      failures{};  ///< failed attempts, counted by stage and cause
  std::array<std::uint64_t, 3> endings{};
  FaultCounts faults{};
  Http2Counts http2{};
  std::uint64_t intercepted = 0;        ///< requests whose client TLS the proxy terminates
  std::uint64_t intercepted_again = 0;  ///< intercepted requests with more than one attempt

  void count(const telemetry::ExchangeRecord&);
  void add(const CoverageMarks&);
  /// Returns the required marks that fewer than one story in a thousand reached. `stories`: number of stories
  /// played. Returns no marks if too few stories were played.
  std::vector<std::string> missing(std::uint64_t stories) const;
  /// Returns the failures that were reached but are not listed as possible.
  std::vector<std::string> unexpected() const;
  /// Returns all marks with their counts, as readable text.
  std::string table() const;
};

}  // namespace reprise::simulation
