// Figures about a running proxy from repeated readings: the newest values, and the changes between readings.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "proxy/tools/top/reading.hpp"

namespace reprise::tools {

/// A quantile in seconds. It may be above the highest bucket bound.
struct Quantile {
  double seconds = 0;
  bool beyond = false;  ///< the quantile is above `seconds`, which is the highest bound
};

/// Figures of one route, since the start of the proxy (`total`) and within the window of the Watch
/// (`recent`).
struct RouteFigures {
  std::string name;
  std::string mode;
  RouteCounts total;
  RouteCounts recent;
  double span = 0;  ///< seconds that `recent` covers; 0 after only one reading
  /// Fraction of requests in `recent` with a complete response and a status below 500.
  std::optional<double> success;
  std::optional<Quantile> p50;  ///< median of the durations in `recent`; absent if no duration was reported
  std::optional<Quantile> p99;
  /// Sort keys that put routes with problems first: failed and refused requests in `recent`, retries in
  /// `recent`, failed and refused requests since the start, all requests since the start.
  std::array<std::uint64_t, 4> trouble{};

  /// Converts `count`, a count in `recent`, to a rate per second.
  double rate(std::uint64_t count) const { return span > 0 ? static_cast<double>(count) / span : 0; }
};

struct UpstreamFigures {
  UpstreamReading now;
  double attempts_a_second = 0;
};

/// The time at which readings of the proxy began to fail, and why the last reading failed.
struct Loss {
  std::string why;
  double since = 0;
};

/// The readings of one proxy. Times are in seconds on a monotonic clock.
class Watch {
 public:
  /// Compares each reading with the one taken `window` readings earlier. Precondition: `window` is at
  /// least 1.
  explicit Watch(std::size_t window) : window_(window) { assert(window > 0); }

  /// Adds a reading. If the proxy has restarted (its start time differs, or its counters went back), discards
  /// all earlier readings.
  void took(Status, double at);
  void took(std::vector<RequestReading>);
  void lost(std::string why, double at);

  bool empty() const { return samples_.empty(); }
  /// Returns the newest reading. Precondition: there is a reading.
  const Status& status() const {
    assert(!empty());
    return samples_.back().status;
  }
  /// Returns the requests of the last history that was read, newest first.
  const std::vector<RequestReading>& stories() const { return stories_; }
  const std::optional<Loss>& loss() const { return loss_; }
  /// Returns when a restart was last detected.
  const std::optional<double>& restarted_at() const { return restarted_at_; }

  /// Returns the figures of the routes, in the order of the configuration.
  std::vector<RouteFigures> routes() const;
  std::vector<UpstreamFigures> upstreams() const;
  /// Returns the number of requests per second of all routes within the window.
  double rate() const;

 private:
  struct Sample {
    Status status;
    double at = 0;
  };
  double span() const { return samples_.size() < 2 ? 0 : samples_.back().at - samples_.front().at; }

  std::size_t window_;
  std::deque<Sample> samples_;
  std::vector<RequestReading> stories_;
  std::optional<Loss> loss_;
  std::optional<double> restarted_at_;
};

/// Returns the quantile for the fraction `share`, interpolated within its bucket. Returns nothing if all
/// counts are zero. `bounds` are in seconds, ascending. Precondition: `counts` has one item more than
/// `bounds`.
std::optional<Quantile> quantile(double share, const std::vector<double>& bounds,
                                 const std::vector<std::uint64_t>& counts);
/// Returns the sum of all counts.
std::uint64_t sum_of(const CountsByWord&);
/// Returns true if more happened to the request than its status shows: it was retried, given up or cut, or
/// the proxy refused to retry it.
bool is_notable(const RequestReading&);
/// Returns true for an upstream in trouble: retries were taken from its budget, its circuit is not closed, or
/// it has asked for a pause.
bool is_notable(const UpstreamReading&);

}  // namespace reprise::tools
