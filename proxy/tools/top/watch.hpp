// What is known of a running proxy by asking it over and over: its newest figures, and what happened between.
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

/// Seconds; may be above the highest bound that is counted by.
struct Quantile {
  double seconds = 0;
  bool beyond = false;  ///< it is longer than that
};

/// One route: since the proxy has started, and within the window.
struct RouteFigures {
  std::string name;
  std::string mode;
  RouteCounts total;
  RouteCounts recent;
  double span = 0;                ///< seconds that `recent` is of; 0: nothing to compare with yet
  std::optional<double> success;  ///< share of `recent` that was sent whole, with a status below 500
  std::optional<Quantile> p50;    ///< of `recent`; absent: nothing was timed
  std::optional<Quantile> p99;
  /// What is compared to find those in trouble: failed and refused, then retries, both of `recent`; failed
  /// and refused since the start; requests.
  std::array<std::uint64_t, 4> trouble{};

  /// Per second.
  double rate(std::uint64_t count) const { return span > 0 ? static_cast<double>(count) / span : 0; }
};

struct UpstreamFigures {
  UpstreamReading now;
  double attempts_a_second = 0;
};

/// Since when there has been no reading, and why.
struct Loss {
  std::string why;
  double since = 0;
};

/// A value. Times are seconds on a clock that never goes back.
class Watch {
 public:
  /// `window`: how many readings back figures are compared with; at least 1.
  explicit Watch(std::size_t window) : window_(window) { assert(window > 0); }

  /// After a restart of the proxy, which is one of its counters too, everything begins anew.
  void took(Status, double at);
  void took(std::vector<StoryReading>);
  void lost(std::string why, double at);

  bool empty() const { return samples_.empty(); }
  /// The newest; not if empty.
  const Status& status() const {
    assert(!empty());
    return samples_.back().status;
  }
  /// The newest first.
  const std::vector<StoryReading>& stories() const { return stories_; }
  const std::optional<Loss>& loss() const { return loss_; }
  /// When a restart was last noticed.
  const std::optional<double>& restarted_at() const { return restarted_at_; }

  /// In the order of the configuration.
  std::vector<RouteFigures> routes() const;
  std::vector<UpstreamFigures> upstreams() const;
  /// All requests per second within the window.
  double rate() const;

 private:
  struct Sample {
    Status status;
    double at = 0;
  };
  double span() const { return samples_.size() < 2 ? 0 : samples_.back().at - samples_.front().at; }

  std::size_t window_;
  std::deque<Sample> samples_;
  std::vector<StoryReading> stories_;
  std::optional<Loss> loss_;
  std::optional<double> restarted_at_;
};

/// Interpolated within the bucket that holds it; absent where nothing is counted or told. `bounds`: seconds;
/// `counts` has one more.
std::optional<Quantile> quantile(double share, const std::vector<double>& bounds,
                                 const std::vector<std::uint64_t>& counts);
/// The sum of all words.
std::uint64_t sum_of(const CountsByWord&);
/// Tried again, given up, cut, or refused a retry: more to tell than its status.
bool is_worth_telling(const StoryReading&);
/// Not as it should be: a budget that was drawn on, a circuit that is not closed, a pause.
bool is_worth_telling(const UpstreamReading&);

}  // namespace reprise::tools
