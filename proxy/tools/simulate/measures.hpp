// The results of a run: counts, latencies, and their course over time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/policy/decision/reason.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::tools {

using policy::Duration;

/// A histogram of durations. The width of a bucket is 1 microsecond, or at most 1/32 of the shortest duration
/// in the bucket, so percentiles are exact to 3.2 %. Memory: 8 KB.
class Histogram {
 public:
  void add(Duration);
  std::uint64_t count() const { return count_; }
  /// Returns the mean, exact to a microsecond; zero if the histogram is empty.
  Duration mean() const;
  /// Returns the percentile for `share` (0 to 1), exact to the width of its bucket; zero if the histogram is
  /// empty.
  Duration percentile(double share) const;

 private:
  static constexpr unsigned fine_bits = 5;
  static constexpr std::size_t places = (64 - fine_bits) << fine_bits;

  static std::size_t place_of(std::uint64_t microseconds);
  static std::uint64_t top_of(std::size_t place);

  std::array<std::uint32_t, places> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t microseconds_ = 0;
};

/// Counts for one step of time.
struct Step {
  std::uint64_t requests = 0;   ///< requests that arrived in this step
  std::uint64_t succeeded = 0;  ///< requests that arrived in this step and succeeded, in this step or later
  std::uint64_t attempts = 0;   ///< attempts that were sent to the upstream in this step
  double budget = 1;            ///< fraction left in the emptiest budget at the end of the step, 0 to 1
};

struct Measures {
  std::string policy;
  std::uint64_t requests = 0;
  std::uint64_t succeeded = 0;  ///< requests that `is_success` accepts
  std::uint64_t attempts = 0;
  std::uint64_t retries = 0;  ///< attempts that follow a failed attempt of their request
  std::uint64_t hedges = 0;   ///< copies that were sent beside a slow attempt
  /// Attempts that the upstream served although their request no longer waited for them.
  std::uint64_t wasted = 0;
  std::uint64_t refused = 0;  ///< attempts rejected because the upstream's queue was full
  std::uint64_t limited = 0;  ///< attempts rejected by the upstream's rate limit
  /// Requests that failed because too many other requests were under way in the simulation.
  std::uint64_t turned_away = 0;
  std::uint64_t unfinished = 0;  ///< requests under way when the run ended; they count as failed
  std::uint64_t events = 0;
  /// Number of requests that ended with each reason.
  std::array<std::uint64_t, policy::reason_count> ended{};
  Histogram latency;         ///< from a request to its response, for successful requests
  Histogram latency_of_all;  ///< from a request to its end, for all requests that ended
  Duration step{};           ///< length of one step
  /// Steps of the time in which requests arrive. The time after the last arrival has no steps.
  std::vector<Step> steps;
  std::optional<Duration> trouble_ended;  ///< end of the last outage or the last burst
  /// Time from `trouble_ended` to the recovery. The recovery is the start of the first three seconds in which
  /// the success rate of every step is at least 95 % of the normal rate. The normal rate is the success rate
  /// before the first outage or burst. Absent if there was no recovery while requests arrived.
  std::optional<Duration> recovered;
  // The next three members are set only if the simulation replays an access log.
  std::uint64_t decided_by_log = 0;  ///< requests whose attempts are all in the access log
  std::uint64_t assumed = 0;         ///< attempts that are not in the access log
  std::uint64_t unknown_rule = 0;  ///< requests whose idempotency depends on data that the log does not have

  double success_share() const;
  double amplification() const;
  /// Returns the highest number of attempts per second in any step.
  double peak_load() const;
  /// Returns the lowest `budget` of all steps.
  double lowest_budget() const;
};

/// Returns a round step length that divides the duration into at most 120 steps.
Duration step_of(Duration);
/// Sets `recovered` in the results. `trouble_from` is the start of the first outage or burst.
void find_recovery(Measures&, Duration trouble_from);

}  // namespace reprise::tools
