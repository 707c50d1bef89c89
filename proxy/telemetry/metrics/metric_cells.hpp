// The counters behind the metrics: plain atomics per route, turned into metric families only when they are
// scraped.
#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/collectable.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/decision/outcome.hpp"
#include "proxy/policy/decision/reason.hpp"
#include "proxy/policy/match/status_range.hpp"
#include "proxy/telemetry/log/growing_list.hpp"
#include "proxy/telemetry/metrics/distribution.hpp"
#include "proxy/telemetry/metrics/last_minute.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::telemetry {

// All accesses use relaxed memory order, because each counter is independent of all other data.
using Counter = std::atomic<std::uint64_t>;
using Level = std::atomic<std::int64_t>;

inline void add_one(Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); }

/// The closed list of values of the label `outcome`. Maps every outcome to the index of its value in this
/// list. The map is computed once, from policy::outcome_label.
class OutcomeLabels {
 public:
  static constexpr auto words = policy::outcome_labels;

  OutcomeLabels();
  std::size_t index(const policy::Outcome&) const;

 private:
  static constexpr std::size_t classes =
      policy::highest_status / 100 + 1;  ///< number of status classes, from 0xx to 9xx
  static constexpr std::size_t stages = policy::stage_count;
  std::array<std::uint8_t, classes> by_class_{};
  std::uint8_t failed_call_ = 0;
  std::array<std::array<std::uint8_t, policy::cause_count>, stages> by_failure_{};
};

/// The closed list of values of the label `status` of Metric::grpc_requests: the words of the statuses, then
/// `none`.
inline constexpr std::size_t grpc_label_count = policy::grpc_status_count + 1;
std::string_view grpc_label(std::size_t index);
/// Returns the index of the label for a call that ended with that status.
constexpr std::size_t grpc_index(const std::optional<policy::GrpcStatus>& status) {
  return status ? static_cast<std::size_t>(*status) : policy::grpc_status_count;
}

/// All counters of one route, on cache lines of their own.
struct alignas(64) RouteCells {
  RouteCells();

  std::array<Counter, policy::highest_status + 1> statuses{};  ///< requests by the status sent to the client
  Counter cut{0};
  Counter client_gone{0};
  std::array<Counter, grpc_label_count> calls{};  ///< gRPC calls by the status that the client got
  std::array<Counter, OutcomeLabels::words.size()> attempts{};
  std::array<Counter, policy::reason_count> retries{};
  std::array<Counter, policy::reason_count> refused{};
  std::array<Counter, policy::reason_count> exhausted{};
  Counter recovered{0};
  Counter resumed_downloads{0};
  Counter ambiguous{0};
  Counter request_bytes{0};
  Counter response_bytes{0};
  Counter failed_calls{0};  ///< complete calls with the HTTP status 200 and a status of `is_server_error`
  std::array<Counter, policy::hedge_outcome_count> hedges{};
  Distribution duration;
  Distribution attempts_per_request;
  Distribution backoff;
  Distribution retry_after;
  LastMinute<RouteNumbers> last_minute;
};

inline constexpr auto& tunnel_words = policy::names_of<TunnelOutcome>;
inline constexpr auto& protocol_words = policy::names_of<Protocol>;
inline constexpr auto& interception_words = policy::names_of<Interception>;
inline constexpr auto& certificate_words = policy::names_of<CertificateUse>;
inline constexpr std::int64_t no_certificate = std::numeric_limits<std::int64_t>::max();
inline constexpr auto& reload_words = policy::names_of<ReloadOutcome>;
inline constexpr auto& span_drop_words = policy::names_of<SpanDrop>;
inline constexpr auto& lookup_words = policy::names_of<LookupOutcome>;
inline constexpr auto& limit_words = policy::names_of<LimitHit>;
inline constexpr auto& upstream_words = policy::names_of<UpstreamState>;
inline constexpr auto& side_words = policy::names_of<Http2Side>;
inline constexpr auto& flood_words = policy::names_of<policy::Http2Flood>;
inline constexpr auto& http2_code_words = policy::names_of<policy::Http2Code>;
inline constexpr auto& replay_words = policy::names_of<ReplayMedium>;

/// Counts of frames with an error code of HTTP/2, by side and code.
using Http2CodeCounts = std::array<std::array<Counter, http2_code_words.size()>, side_words.size()>;

/// A route's name and its counters.
struct RouteCount {
  explicit RouteCount(std::string_view route) : name(route) {}
  const std::string name;
  RouteCells cells;
};

/// Has the counters of most metrics, and makes metric families of them at each scrape. The registry of
/// prometheus-cpp has the other metrics: they rarely change, or the values of their labels are not known in
/// advance.
struct Metrics::Cells final : prometheus::Collectable {
  Cells(std::span<const std::string> route_names, std::span<const std::string_view> rejection_words,
        std::string_view version, UpstreamLabels upstream_labels);

  /// Returns the families that have at least one series; the registry's own families are not among them.
  std::vector<prometheus::MetricFamily> Collect() const override;
  prometheus::MetricFamily attempts_by_upstream() const;
  prometheus::MetricFamily attempt_durations_by_upstream() const;
  prometheus::MetricFamily rejections_by_cause() const;

  const OutcomeLabels outcome_labels;
  const std::vector<std::string> rejections;  ///< values of the `cause` label of Metric::rejected_requests
  GrowingList<RouteCount> routes;
  std::mutex adding;  ///< guards additions to `routes`
  std::vector<Counter> rejected;
  std::array<Counter, tunnel_words.size()> tunnels{};
  UnreadHosts unread;
  std::array<Counter, protocol_words.size()> streams{};
  std::array<Counter, interception_words.size()> interceptions{};
  std::array<Counter, lookup_words.size()> lookups{};
  std::array<Counter, limit_words.size()> limits{};
  std::array<Level, upstream_words.size()> upstreams{};
  std::array<Level, side_words.size()> http2_connections{};
  std::array<Level, side_words.size()> http2_streams{};
  Http2CodeCounts http2_goaways{};
  Http2CodeCounts http2_resets{};
  std::array<Counter, flood_words.size()> http2_floods{};
  Distribution http2_queued;
  UpstreamTable by_upstream;
  std::array<Counter, reload_words.size()> reloads{};
  Level last_reload_succeeded{1};  ///< 1 if the last reload succeeded, else 0; the start counts as a reload
  Level config_since{0};           ///< time of the last successful reload, in seconds since 1970
  Counter log_dropped{0};
  Counter spans{0};
  std::array<Counter, span_drop_words.size()> dropped_spans{};
  Level client_connections{0};
  std::array<Level, replay_words.size()> replay_bytes{};
  std::array<Level, replay_words.size()> replay_limits{};
  std::array<Level, certificate_words.size()> certificates_left{no_certificate, no_certificate};

  prometheus::Registry registry;
  prometheus::Family<prometheus::Gauge>& budget_family;
  prometheus::Family<prometheus::Gauge>& circuit_family;
  prometheus::Family<prometheus::Gauge>& config_family;
  std::mutex config_mutex;
  prometheus::Gauge* config_gauge = nullptr;  ///< guarded by config_mutex
};

}  // namespace reprise::telemetry
