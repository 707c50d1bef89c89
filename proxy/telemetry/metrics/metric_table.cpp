#include "proxy/telemetry/metrics/metric_table.hpp"

#include <array>
#include <string>

#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::telemetry {
namespace {

using Type = prometheus::MetricType;

constexpr std::array<MetricRow, metric_count> rows{{
    {Metric::requests, "reprise_requests_total", Type::Counter, "route, code",
     "Finished requests by the status sent, `cut` (the answer was cut) or `client_gone` (none could be "
     "sent). Opened tunnels are not counted."},
    {Metric::request_duration, "reprise_request_duration_seconds", Type::Histogram, "route",
     "Time from the request head to the end of the answer, waits included; tunnels are left out."},
    {Metric::attempts, "reprise_attempts_total", Type::Counter, "route, outcome",
     "Attempts by outcome: 2xx 3xx 4xx 5xx other resolve connect tls reset timeout truncated "
     "cancelled."},
    {Metric::attempts_per_request, "reprise_attempts_per_request", Type::Histogram, "route",
     "Attempts of each request or tunnel that had any."},
    {Metric::retries, "reprise_retries_total", Type::Counter, "route, reason",
     "Retries by the reason that asked for them."},
    {Metric::retries_refused, "reprise_retries_refused_total", Type::Counter, "route, reason",
     "Requests that ended without another attempt, by the final reason; `success` is not counted."},
    {Metric::recovered, "reprise_recovered_total", Type::Counter, "route",
     "Whole answers below 400 after any retry: failures that the client never saw."},
    {Metric::resumed_downloads, "reprise_resumed_downloads_total", Type::Counter, "route",
     "Whole answers that broke on the way and were continued."},
    {Metric::exhausted, "reprise_exhausted_total", Type::Counter, "route, reason",
     "Requests that a limit ended after a retryable outcome, by the limit."},
    {Metric::backoff, "reprise_backoff_seconds", Type::Histogram, "route",
     "Waits before retries, hints included; retries at once are left out."},
    {Metric::retry_after, "reprise_retry_after_seconds", Type::Histogram, "route",
     "Pauses that upstreams asked for."},
    {Metric::upstream_attempts, "reprise_upstream_attempts_total", Type::Counter, "upstream, outcome",
     "Attempts by host:port and outcome: hosts written in the configuration, then the first "
     "`limits.labelled_upstreams` that were met; the rest is `other`."},
    {Metric::upstream_attempt_duration, "reprise_upstream_attempt_duration_seconds", Type::Histogram,
     "upstream",
     "Time of attempts by host:port, from their start to the response head or the failure; labels as of "
     "`reprise_upstream_attempts_total`."},
    {Metric::budget_available, "reprise_budget_available_ratio", Type::Gauge, "upstream",
     "Share of the retry budget that is left, 0 to 1, by host:port; `other` is the lowest of the rest."},
    {Metric::circuit_state, "reprise_circuit_state", Type::Gauge, "upstream",
     "0 closed, 1 half-open, 2 open, by host:port; `other` is the worst of the rest."},
    {Metric::ambiguous, "reprise_ambiguous_total", Type::Counter, "route",
     "Answers 404, 409 or 412 after an earlier attempt that may have taken effect."},
    {Metric::request_bytes, "reprise_request_bytes_total", Type::Counter, "route",
     "Bytes of request bodies and tunnels that were read from clients."},
    {Metric::response_bytes, "reprise_response_bytes_total", Type::Counter, "route",
     "Bytes of response bodies and tunnels that were sent to clients."},
    {Metric::hedges, "reprise_hedges_total", Type::Counter, "route, outcome",
     "Second copies that were due: won (the client got its answer) lost failed cancelled refused (a gate was "
     "closed) observed (the route only observes)."},
    {Metric::replay_bytes, "reprise_replay_bytes", Type::Gauge, "store",
     "Bytes of request bodies that are held for replay."},
    {Metric::replay_limit_bytes, "reprise_replay_limit_bytes", Type::Gauge, "store",
     "The most that may be held: `limits.replay_memory` and `limits.replay_disk` as they are in force."},
    {Metric::upstream_connections, "reprise_upstream_connections", Type::Gauge, "state",
     "Open upstream connections: active or idle."},
    {Metric::client_connections, "reprise_client_connections", Type::Gauge, "", "Open client connections."},
    {Metric::tunnels, "reprise_tunnels_total", Type::Counter, "outcome",
     "Tunnels (CONNECT, SOCKS, redirected, upgraded by a 101) by their end: closed broken idle drained "
     "denied; "
     "http: its plain requests are served one by one."},
    {Metric::streams, "reprise_streams_total", Type::Counter, "protocol",
     "What came behind CONNECT, through SOCKS or redirected: http http2 tls server_first silence opaque."},
    {Metric::interceptions, "reprise_interceptions_total", Type::Counter, "outcome",
     "TLS streams of clients where `intercept` is configured: intercepted; tunnelled blind: unlisted "
     "no_server_name other_server_name no_http_1_1; ended: handshake_failed handshake_timeout "
     "no_certificate."},
    {Metric::certificate_expires, "reprise_certificate_expires_seconds", Type::Gauge, "certificate",
     "Time until the first certificate of this side ends, negative once it has: authority (`intercept.ca`) "
     "client "
     "(`tls.certificate`)."},
    {Metric::dns_lookups, "reprise_dns_lookups_total", Type::Counter, "outcome",
     "Name lookups: hit resolved failed timeout."},
    {Metric::rejected_requests, "reprise_rejected_requests_total", Type::Counter, "cause",
     "Messages refused before any attempt, by cause."},
    {Metric::limits_hit, "reprise_limits_hit_total", Type::Counter, "limit",
     "Connections that a limit turned away with 503 (connection_limit no_descriptor) or ended: room "
     "(resting, or gone with a FIN, for a newcomer) keep_alive header handshake request_idle request_unread "
     "answer_idle answer_unread."},
    {Metric::config_hash, "reprise_config_info", Type::Gauge, "hash",
     "1, with the hash of the running configuration."},
    {Metric::config_reloads, "reprise_config_reloads_total", Type::Counter, "outcome",
     "Configurations that were read while running: success (in force) failed (the one before goes on)."},
    {Metric::config_last_reload_successful, "reprise_config_last_reload_successful", Type::Gauge, "",
     "1: the configuration that was read last is in force; 0: it was refused, and the one before goes on."},
    {Metric::config_last_reload_success_time, "reprise_config_last_reload_success_timestamp_seconds",
     Type::Gauge, "", "When the running configuration came into force, in seconds since 1970."},
    {Metric::log_dropped, "reprise_log_dropped_total", Type::Counter, "",
     "Log lines dropped because the log could not be written."},
    {Metric::trace_spans, "reprise_trace_spans_total", Type::Counter, "",
     "Spans that the collector of `trace.otlp` has taken."},
    {Metric::trace_dropped, "reprise_trace_dropped_total", Type::Counter, "cause",
     "Spans that no collector has: queue_full (it is slower than requests end) unreachable busy (it asked to "
     "be "
     "spared, again and again) refused (the whole batch) rejected (single ones of a batch) switched_off "
     "shutting_down."},
    {Metric::build_version, "reprise_build_info", Type::Gauge, "version",
     "1, with the version of this program."},
    {Metric::process_cpu, "process_cpu_seconds_total", Type::Counter, "",
     "User and system CPU time of the process."},
    {Metric::process_resident_memory, "process_resident_memory_bytes", Type::Gauge, "",
     "Resident memory of the process."},
    {Metric::process_open_fds, "process_open_fds", Type::Gauge, "", "Open file descriptors."},
    {Metric::process_max_fds, "process_max_fds", Type::Gauge, "", "Limit of open file descriptors."},
    {Metric::process_start_time, "process_start_time_seconds", Type::Gauge, "",
     "Start of the process in seconds since 1970."},
    {Metric::process_threads, "process_threads", Type::Gauge, "", "Threads of the process."},
}};
static_assert(policy::follows_enumerators(rows, [](const MetricRow& row) { return row.metric; }));

}  // namespace

const MetricRow& row(Metric metric) { return rows[static_cast<std::size_t>(metric)]; }

std::span<const MetricRow> metric_rows() { return rows; }

prometheus::MetricFamily family(Metric metric) {
  const MetricRow& found = row(metric);
  return {std::string(found.name), std::string(found.help), found.type, {}};
}

}  // namespace reprise::telemetry
