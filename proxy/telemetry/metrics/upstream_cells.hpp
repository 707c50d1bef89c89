// The one label that comes from traffic, `upstream`: who
// has a series of its own, and what is counted for each.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/telemetry/metrics/distribution.hpp"
#include "proxy/telemetry/metrics/last_minute.hpp"

namespace reprise::telemetry {

/// The label of those that have none of their own. No host:port is spelled like it.
inline constexpr std::string_view other_upstreams = "other";

/// Attempts at one upstream, or at all that share the label `other`. Counted without a lock.
struct alignas(64) UpstreamCells {
  explicit UpstreamCells(std::string_view name) : label(name) {}
  const std::string label;  ///< "host:port" or "other"
  /// By their place in policy::outcome_labels.
  std::array<std::atomic<std::uint64_t>, policy::outcome_labels.size()> attempts{};
  LastMinute<AttemptNumbers> last_minute;
  Distribution duration{duration_bounds};
};

/// Who gets a label: hosts that the configuration names, at every port, then the first others that are met.
struct UpstreamLabels {
  std::vector<std::string> configured;  ///< hosts, in lower case
  std::size_t most_met = 32;            ///< limits.labelled_upstreams
  std::size_t most = 1024;              ///< of all together: limits.upstreams
};

/// For the life of the process; what was given out stays where it is. Thread-safe.
class UpstreamTable {
 public:
  explicit UpstreamTable(UpstreamLabels labels) : labels_(std::move(labels)) {}

  /// The cells of "host:port", host in lower case: its own, or those of `other`. Takes a lock: ask once for
  /// each upstream, not for each request.
  UpstreamCells& meet(std::string_view host_port);
  /// The label that it was given; `other` if it was never met.
  std::string_view label_of(std::string_view host_port) const;
  /// Own labels by name, then `other`.
  void each(const std::function<void(const UpstreamCells&)>& told) const;

 private:
  bool is_configured(std::string_view host_port) const;

  const UpstreamLabels labels_;
  mutable std::mutex mutex_;
  std::map<std::string, UpstreamCells, std::less<>> met_;  ///< by label
  std::size_t from_traffic_ = 0;
  UpstreamCells other_{other_upstreams};
};

}  // namespace reprise::telemetry
