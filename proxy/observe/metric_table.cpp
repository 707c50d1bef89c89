#include "proxy/observe/metric_table.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string>

#include "proxy/observe/metrics.hpp"

namespace reprise::observe {
namespace {

using Type = prometheus::MetricType;

// In the order of the enumerators.
constexpr std::array<MetricRow, metric_count> rows{{
    {"reprise_requests_total", Type::Counter, "route, code",
     "Finished requests by the status sent, `cut` (the answer was cut) or `client_gone` (none could be "
     "sent)."},
    {"reprise_request_duration_seconds", Type::Histogram, "route",
     "Time from the request head to the end of the answer, waits included; tunnels are left out."},
    {"reprise_attempts_total", Type::Counter, "route, outcome",
     "Attempts by outcome: 2xx 3xx 4xx 5xx resolve connect tls reset timeout truncated cancelled."},
    {"reprise_attempts_per_request", Type::Histogram, "route", "Attempts of each request that had any."},
    {"reprise_retries_total", Type::Counter, "route, reason", "Retries by the reason that asked for them."},
    {"reprise_retries_refused_total", Type::Counter, "route, reason",
     "Requests that ended without another attempt, by the final reason; `success` is not counted."},
    {"reprise_recovered_total", Type::Counter, "route",
     "Whole answers below 400 after any retry: failures that the client never saw."},
    {"reprise_resumed_downloads_total", Type::Counter, "route",
     "Whole answers that broke on the way and were continued."},
    {"reprise_exhausted_total", Type::Counter, "route, reason",
     "Requests that a limit ended after a retryable outcome: attempts_spent deadline_too_near budget_spent "
     "upstream_said_later."},
    {"reprise_backoff_seconds", Type::Histogram, "route",
     "Waits before retries, hints included; retries at once are left out."},
    {"reprise_retry_after_seconds", Type::Histogram, "route", "Pauses that upstreams asked for."},
    {"reprise_budget_available_ratio", Type::Gauge, "upstream",
     "Share of the retry budget that is left, 0 to 1, by configured host:port; the rest is `other`."},
    {"reprise_circuit_state", Type::Gauge, "upstream",
     "0 closed, 1 half-open, 2 open, by configured host:port; the rest is `other`, the worst of them."},
    {"reprise_ambiguous_total", Type::Counter, "route",
     "Answers 404, 409 or 412 after an earlier attempt that may have taken effect."},
    {"reprise_hedges_total", Type::Counter, "route, outcome",
     "Second copies that were due: won (the client got its answer) lost failed cancelled refused (a gate was "
     "closed) observed (the route only observes)."},
    {"reprise_replay_bytes", Type::Gauge, "store", "Bytes of request bodies that are held for replay."},
    {"reprise_upstream_connections", Type::Gauge, "state", "Open upstream connections: active or idle."},
    {"reprise_client_connections", Type::Gauge, "", "Open client connections."},
    {"reprise_tunnels_total", Type::Counter, "outcome",
     "CONNECT tunnels by their end: closed broken idle drained; http: its plain requests are served one by "
     "one."},
    {"reprise_dns_lookups_total", Type::Counter, "outcome", "Name lookups: hit resolved failed timeout."},
    {"reprise_rejected_requests_total", Type::Counter, "cause",
     "Messages refused before any attempt, by cause."},
    {"reprise_limits_hit_total", Type::Counter, "limit",
     "Connections that a limit turned away with 503 (connection_limit no_descriptor) or ended: room "
     "(resting, "
     "for a newcomer) keep_alive header request_idle request_unread answer_idle answer_unread."},
    {"reprise_config_info", Type::Gauge, "hash", "1, with the hash of the running configuration."},
    {"reprise_log_dropped_total", Type::Counter, "",
     "Log lines dropped because the log could not be written."},
    {"reprise_build_info", Type::Gauge, "version", "1, with the version of this program."},
    {"process_cpu_seconds_total", Type::Counter, "", "User and system CPU time of the process."},
    {"process_resident_memory_bytes", Type::Gauge, "", "Resident memory of the process."},
    {"process_open_fds", Type::Gauge, "", "Open file descriptors."},
    {"process_max_fds", Type::Gauge, "", "Limit of open file descriptors."},
    {"process_start_time_seconds", Type::Gauge, "", "Start of the process in seconds since 1970."},
    {"process_threads", Type::Gauge, "", "Threads of the process."},
}};

}  // namespace

const MetricRow& row(Metric metric) { return rows[static_cast<std::size_t>(metric)]; }

std::span<const MetricRow> metric_rows() { return rows; }

prometheus::MetricFamily family(Metric metric) {
  const MetricRow& found = row(metric);
  return {std::string(found.name), std::string(found.help), found.type, {}};
}

std::string metrics_reference() {
  std::string out = "| name | labels | meaning |\n|---|---|---|\n";
  for (const MetricRow& each : rows) {
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} |\n", each.name, each.labels, each.help);
  }
  return out;
}

}  // namespace reprise::observe
