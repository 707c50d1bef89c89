// What a run comes to: counts, latencies and their course over time.
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

/// Spans by size, each place 1/32 wider than the one before at most: a percentile is right to 3.2 %. 11 KB.
class Histogram {
 public:
  void add(Duration);
  std::uint64_t count() const { return count_; }
  /// Exact to a microsecond; zero of none.
  Duration mean() const;
  /// The span that this share (0 to 1) of them do not exceed, up to the width of its place; zero of none.
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

/// What happened in one step of the clock.
struct Step {
  std::uint64_t requests = 0;   ///< that came
  std::uint64_t succeeded = 0;  ///< of these, whenever they did
  std::uint64_t attempts = 0;   ///< that reached for the upstream
  double budget = 1;            ///< what is left at its end of the worst client's budget, 0 to 1
};

struct Measures {
  std::string policy;
  std::uint64_t requests = 0;
  std::uint64_t succeeded = 0;  ///< a response below 500 that is neither 408 nor 429
  std::uint64_t attempts = 0;
  std::uint64_t retries = 0;      ///< those made since an earlier one had failed
  std::uint64_t hedges = 0;       ///< those made beside a slow one
  std::uint64_t in_vain = 0;      ///< work that the upstream did for somebody who had stopped waiting
  std::uint64_t refused = 0;      ///< attempts that its full queue turned away
  std::uint64_t limited = 0;      ///< attempts that its rate limit turned away
  std::uint64_t turned_away = 0;  ///< requests that found no room in the simulation, and failed
  std::uint64_t unfinished = 0;   ///< requests under way when the run ended; they count as failed
  std::uint64_t events = 0;
  std::array<std::uint64_t, policy::reason_count> ended{};  ///< requests by the reason that ended them
  Histogram latency;                      ///< of what succeeded, from the request to its response
  Histogram latency_of_all;               ///< of every request that ended
  Duration step{};                        ///< the width of one
  std::vector<Step> steps;                ///< of the duration, not of what comes after it
  std::optional<Duration> trouble_ended;  ///< the end of the last outage or the last burst
  /// From there to the first of three seconds in which the requests that came succeeded as before the trouble
  /// (to 95 %); absent: not while requests came.
  std::optional<Duration> recovered;
  // Of a replay alone.
  std::uint64_t decided_by_log = 0;  ///< requests all of whose attempts the log knows
  std::uint64_t assumed = 0;         ///< attempts that the log does not know
  std::uint64_t unknown_rule = 0;    ///< requests whose idempotency hangs on what a log does not have

  double success_share() const;
  double amplification() const;
  /// Attempts a second, in the busiest step.
  double peak_load() const;
  /// The lowest of the steps.
  double lowest_budget() const;
};

/// A round width that makes at most 120 steps of the duration.
Duration step_of(Duration);
/// Fills `recovered`. `from`: when the first trouble began.
void find_recovery(Measures&, Duration trouble_from);

}  // namespace reprise::tools
