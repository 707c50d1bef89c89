// The table of all exported metrics: name, type, labels and one line of help.
#pragma once

#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::telemetry {

/// The metrics, in the order in which they are documented and exported.
enum class Metric : std::uint8_t {
  requests,
  grpc_requests,
  request_duration,
  attempts,
  attempts_per_request,
  retries,
  retries_refused,
  recovered,
  resumed_downloads,
  exhausted,
  backoff,
  retry_after,
  upstream_attempts,
  upstream_attempt_duration,
  budget_available,
  circuit_state,
  ambiguous,
  request_bytes,
  response_bytes,
  hedges,
  replay_bytes,
  replay_limit_bytes,
  upstream_connections,
  http2_connections,
  http2_streams,
  http2_goaways,
  http2_resets,
  http2_floods,
  http2_queued,
  client_connections,
  tunnels,
  streams,
  interceptions,
  certificate_expires,
  dns_lookups,
  rejected_requests,
  limits_hit,
  config_hash,
  config_reloads,
  config_last_reload_successful,
  config_last_reload_success_time,
  log_dropped,
  trace_spans,
  trace_dropped,
  build_version,
  process_cpu,
  process_resident_memory,
  process_open_fds,
  process_max_fds,
  process_start_time,
  process_threads,
};

inline constexpr std::size_t metric_count = policy::count_of<Metric>;

struct MetricRow {
  Metric metric;
  std::string_view name;
  prometheus::MetricType type;
  std::string_view labels;  ///< comma-separated label names; may be empty
  std::string_view help;    ///< one line, because prometheus-cpp does not escape newlines
};

const MetricRow& row(Metric);
std::span<const MetricRow> metric_rows();
/// Returns a family with the row's name, help and type, and no series.
prometheus::MetricFamily family(Metric);

}  // namespace reprise::telemetry
