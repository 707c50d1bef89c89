// Figures of a running proxy from repeated readings: the newest ones, and the changes between them.
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
  bool beyond = false;  ///< true: above `seconds`, which is the highest bound
};

/// Figures of one route, since the start of the proxy and within the window.
struct RouteFigures {
  std::string name;
  std::string mode;
  RouteCounts total;
  RouteCounts recent;
  double span = 0;                ///< seconds that `recent` covers; 0: only one reading so far
  std::optional<double> success;  ///< fraction of `recent` that was sent whole with a status below 500
  std::optional<Quantile> p50;    ///< of `recent`; absent if no request was timed
  std::optional<Quantile> p99;
  /// Sort keys for trouble: failed and refused of `recent`, retries of `recent`, failed and refused since the
  /// start, requests.
  std::array<std::uint64_t, 4> trouble{};

  /// Returns the count per second.
  double rate(std::uint64_t count) const { return span > 0 ? static_cast<double>(count) / span : 0; }
};

struct UpstreamFigures {
  UpstreamReading now;
  double attempts_a_second = 0;
};

/// Since when the readings fail, and why.
struct Loss {
  std::string why;
  double since = 0;
};

/// A value. Times are in seconds on a monotonic clock.
class Watch {
 public:
  /// `window`: how many readings back the figures are compared with. Precondition: at least 1.
  explicit Watch(std::size_t window) : window_(window) { assert(window > 0); }

  /// Adds a reading. After a restart of the proxy (counters that went back count as one), all earlier
  /// readings are discarded.
  void took(Status, double at);
  void took(std::vector<RequestReading>);
  void lost(std::string why, double at);

  bool empty() const { return samples_.empty(); }
  /// Returns the newest reading. Precondition: not empty.
  const Status& status() const {
    assert(!empty());
    return samples_.back().status;
  }
  /// Returns the requests, newest first.
  const std::vector<RequestReading>& stories() const { return stories_; }
  const std::optional<Loss>& loss() const { return loss_; }
  /// Returns when a restart was last detected.
  const std::optional<double>& restarted_at() const { return restarted_at_; }

  /// Returns the figures of the routes, in the order of the configuration.
  std::vector<RouteFigures> routes() const;
  std::vector<UpstreamFigures> upstreams() const;
  /// Returns all requests per second within the window.
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

/// Returns the quantile, interpolated within its bucket; absent if nothing was counted or reported. `bounds`:
/// seconds, ascending. Precondition: `counts` has one item more than `bounds`.
std::optional<Quantile> quantile(double share, const std::vector<double>& bounds,
                                 const std::vector<std::uint64_t>& counts);
/// Returns the sum of all counts.
std::uint64_t sum_of(const CountsByWord&);
/// Returns true if the status does not say everything: retried, gave up, cut, or refused a retry.
bool is_notable(const RequestReading&);
/// Returns true for an upstream in trouble: a budget that was drawn on, a circuit that is not closed, or a
/// pause.
bool is_notable(const UpstreamReading&);

}  // namespace reprise::tools
