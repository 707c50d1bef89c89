// The counters of each upstream under the label `upstream`. Because that label comes from traffic, only a
// limited number of upstreams have a label of their own.
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

/// Label of all upstreams without a label of their own. It contains no port, so it is never equal to a
/// host:port.
inline constexpr std::string_view other_upstreams = "other";

/// Attempts at one upstream, or at all upstreams with the label `other`. Counted without a lock.
struct alignas(64) UpstreamCells {
  explicit UpstreamCells(std::string_view name) : label(name) {}
  const std::string label;  ///< "host:port" or "other"
  /// Number of attempts by outcome, indexed as policy::outcome_labels.
  std::array<std::atomic<std::uint64_t>, policy::outcome_labels.size()> attempts{};
  LastMinute<AttemptNumbers> last_minute;
  Distribution duration{duration_bounds};
};

/// Selects which upstreams get a label of their own: the hosts in the configuration, at every port, then the
/// first other upstreams in traffic.
struct UpstreamLabels {
  std::vector<std::string> configured;  ///< hosts in lower case
  std::size_t most_from_traffic = 32;   ///< limits.labelled_upstreams
  std::size_t most =
      1024;  ///< maximum number of labels, of configured and other hosts together: limits.upstreams
};

/// Lives as long as the process. References to its UpstreamCells stay valid. Thread-safe.
class UpstreamTable {
 public:
  explicit UpstreamTable(UpstreamLabels labels) : labels_(std::move(labels)) {}

  /// Returns the counters of "host:port" (host in lower case), or the counters of `other` if the upstream has
  /// no label of its own. Takes a lock, so call it once for each upstream and not for each request.
  UpstreamCells& cells_of(std::string_view host_port);
  /// Returns the label of the upstream: "host:port", or `other`.
  std::string_view label_of(std::string_view host_port) const;
  /// Calls `visit` with the counters of each label, in order of the labels' names. The last call is for
  /// `other`.
  void each(const std::function<void(const UpstreamCells&)>& visit) const;

 private:
  bool is_configured(std::string_view host_port) const;

  const UpstreamLabels labels_;
  mutable std::mutex mutex_;
  std::map<std::string, UpstreamCells, std::less<>> labelled_;  ///< by label
  std::size_t from_traffic_ = 0;
  UpstreamCells other_{other_upstreams};
};

}  // namespace reprise::telemetry
