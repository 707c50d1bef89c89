#include "proxy/telemetry/metrics/metric_table.hpp"

#include <array>
#include <string>

#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::telemetry {
namespace {

using Type = prometheus::MetricType;

constexpr std::array<MetricRow, metric_count> rows{{
    {Metric::requests, "reprise_requests_total", Type::Counter, "route, code",
     "Finished requests by the status sent to the client, `cut` (the response was cut) or `client_gone` (no "
     "status could be sent). Opened tunnels are not counted."},
    {Metric::grpc_requests, "reprise_grpc_requests_total", Type::Counter, "route, status",
     "Finished gRPC calls by the status that the client got, such as `ok` or `unavailable`; `none` if no "
     "status reached the client. `reprise_requests_total` counts them too."},
    {Metric::request_duration, "reprise_request_duration_seconds", Type::Histogram, "route",
     "Time from the request head to the end of the response, waits included. Tunnels are not counted."},
    {Metric::attempts, "reprise_attempts_total", Type::Counter, "route, outcome",
     "Attempts by outcome (grpc: the HTTP status is 200, but the gRPC call failed): 2xx 3xx 4xx 5xx other "
     "resolve connect tls reset timeout truncated cancelled grpc."},
    {Metric::attempts_per_request, "reprise_attempts_per_request", Type::Histogram, "route",
     "Attempts per request or tunnel. Those without any attempt are not counted."},
    {Metric::retries, "reprise_retries_total", Type::Counter, "route, reason", "Retries by reason."},
    {Metric::retries_refused, "reprise_retries_refused_total", Type::Counter, "route, reason",
     "Requests that ended without a further attempt, by final reason. `success` is not counted."},
    {Metric::recovered, "reprise_recovered_total", Type::Counter, "route",
     "Requests with a complete response below 400 after any retry: failures that the client never saw. A "
     "gRPC call is counted if its status is `ok`."},
    {Metric::resumed_downloads, "reprise_resumed_downloads_total", Type::Counter, "route",
     "Downloads that broke, were resumed and became complete."},
    {Metric::exhausted, "reprise_exhausted_total", Type::Counter, "route, reason",
     "Requests with a retryable outcome that were not retried further because of a limit, by limit."},
    {Metric::backoff, "reprise_backoff_seconds", Type::Histogram, "route",
     "Waits before retries, waits that upstreams asked for included. Retries without a wait are not "
     "counted."},
    {Metric::retry_after, "reprise_retry_after_seconds", Type::Histogram, "route",
     "Waits that upstreams asked for, by Retry-After or a similar hint."},
    {Metric::upstream_attempts, "reprise_upstream_attempts_total", Type::Counter, "upstream, outcome",
     "Attempts by host:port and outcome. Hosts in the configuration have their own label, and so do the "
     "first `limits.labelled_upstreams` other hosts; the rest is `other`."},
    {Metric::upstream_attempt_duration, "reprise_upstream_attempt_duration_seconds", Type::Histogram,
     "upstream",
     "Time of attempts by host:port, from their start to the response head or the failure. Labels as for "
     "`reprise_upstream_attempts_total`."},
    {Metric::budget_available, "reprise_budget_available_ratio", Type::Gauge, "upstream",
     "Unused fraction of the retry budget, 0 to 1, by host:port. `other` is the lowest value of the "
     "upstreams that have no label of their own."},
    {Metric::circuit_state, "reprise_circuit_state", Type::Gauge, "upstream",
     "State of the circuit by host:port: 0 closed, 1 half-open, 2 open. `other` is the highest value of the "
     "upstreams that have no label of their own."},
    {Metric::ambiguous, "reprise_ambiguous_total", Type::Counter, "route",
     "Error responses (such as 404 or 409) to a retry after an earlier attempt that may have taken effect."},
    {Metric::request_bytes, "reprise_request_bytes_total", Type::Counter, "route",
     "Bytes of request bodies and tunnels that were read from clients."},
    {Metric::response_bytes, "reprise_response_bytes_total", Type::Counter, "route",
     "Bytes of response bodies and tunnels that were sent to clients."},
    {Metric::hedges, "reprise_hedges_total", Type::Counter, "route, outcome",
     "Hedges that were due, by outcome: won (its response was delivered), lost, failed, cancelled, refused "
     "(a limit forbade it), observed (the route is in mode observe)."},
    {Metric::replay_bytes, "reprise_replay_bytes", Type::Gauge, "store",
     "Bytes of request bodies that are held for retries."},
    {Metric::replay_limit_bytes, "reprise_replay_limit_bytes", Type::Gauge, "store",
     "Limit of the bytes held for retries: the current `limits.replay_memory` and `limits.replay_disk`."},
    {Metric::upstream_connections, "reprise_upstream_connections", Type::Gauge, "state",
     "Open upstream connections: active or idle."},
    {Metric::http2_connections, "reprise_http2_connections", Type::Gauge, "side",
     "Open HTTP/2 connections by side: upstream, client. Those to upstreams are also in "
     "`reprise_upstream_connections`."},
    {Metric::http2_streams, "reprise_http2_streams", Type::Gauge, "side",
     "Open HTTP/2 streams by side: each carries one request."},
    {Metric::http2_goaways, "reprise_http2_goaways_total", Type::Counter, "side, code",
     "GOAWAY frames that arrived, by side and error code: `no_error` if the connection ends regularly. A "
     "code "
     "that RFC 9113 does not list is `other`."},
    {Metric::http2_resets, "reprise_http2_resets_total", Type::Counter, "side, code",
     "RST_STREAM frames that arrived, by side and error code. Labels as for `reprise_http2_goaways_total`."},
    {Metric::http2_floods, "reprise_http2_floods_total", Type::Counter, "kind",
     "HTTP/2 connections of clients that were ended because of a flood: resets (streams that were reset or "
     "refused), empty_frames (frames that move no data), unread_acks (acknowledgements that the client does "
     "not read), "
     "header_block (one head in too many frames or "
     "bytes)."},
    {Metric::http2_queued, "reprise_http2_queued_seconds", Type::Histogram, "",
     "Time for which attempts waited for an HTTP/2 stream, because the upstream allowed no further stream "
     "and "
     "`pool.http2_connections` was reached. Attempts that did not wait are not counted."},
    {Metric::client_connections, "reprise_client_connections", Type::Gauge, "", "Open client connections."},
    {Metric::tunnels, "reprise_tunnels_total", Type::Counter, "outcome",
     "Ended tunnels (CONNECT, SOCKS, redirected, upgraded by a 101): closed, broken, idle, drained, denied; "
     "http: it carried plain HTTP requests, which were served as requests."},
    {Metric::streams, "reprise_streams_total", Type::Counter, "protocol",
     "Streams through CONNECT, SOCKS or redirection by detected protocol: http, http2, tls, server_first "
     "(the server sends first), silence (no data), opaque (any other)."},
    {Metric::interceptions, "reprise_interceptions_total", Type::Counter, "outcome",
     "TLS streams of clients if `intercept` is configured: intercepted; tunnelled: unlisted, no_server_name, "
     "other_server_name, no_http_1_1; closed: handshake_failed, handshake_timeout, no_certificate."},
    {Metric::certificate_expires, "reprise_certificate_expires_seconds", Type::Gauge, "certificate",
     "Time until the first certificate of each kind expires, negative after that: authority "
     "(`intercept.ca`), client (`tls.certificate`)."},
    {Metric::dns_lookups, "reprise_dns_lookups_total", Type::Counter, "outcome",
     "Name lookups by outcome (hit: found in the cache): hit resolved failed timeout."},
    {Metric::rejected_requests, "reprise_rejected_requests_total", Type::Counter, "cause",
     "Requests rejected before any attempt, by cause."},
    {Metric::limits_hit, "reprise_limits_hit_total", Type::Counter, "limit",
     "Client connections that a limit ended, and responses that it slowed down, by limit. Rejected with 503: "
     "connection_limit, no_descriptor. Closed to make room for a new connection, while idle or after the "
     "client's FIN: room. Closed by a time limit: keep_alive, header, handshake, request_idle, "
     "request_unread, response_idle, response_unread. An HTTP/2 response got a small window: "
     "stream_memory."},
    {Metric::config_hash, "reprise_config_info", Type::Gauge, "hash",
     "1, labelled with the hash of the current configuration."},
    {Metric::config_reloads, "reprise_config_reloads_total", Type::Counter, "outcome",
     "Reloads of the configuration: success (the new configuration is current), failed (the previous one was "
     "kept)."},
    {Metric::config_last_reload_successful, "reprise_config_last_reload_successful", Type::Gauge, "",
     "1 if the last reload succeeded, 0 if it failed and the previous configuration was kept."},
    {Metric::config_last_reload_success_time, "reprise_config_last_reload_success_timestamp_seconds",
     Type::Gauge, "", "Time when the current configuration was applied, in seconds since 1970."},
    {Metric::log_dropped, "reprise_log_dropped_total", Type::Counter, "",
     "Log lines that were dropped because stderr was blocked."},
    {Metric::trace_spans, "reprise_trace_spans_total", Type::Counter, "",
     "Spans that the collector of `trace.otlp` has accepted."},
    {Metric::trace_dropped, "reprise_trace_dropped_total", Type::Counter, "cause",
     "Dropped spans by cause: queue_full (spans are made faster than the collector accepts them), "
     "unreachable, busy (the collector kept asking to retry later), refused (a whole batch), rejected "
     "(single spans of a batch), switched_off, shutting_down."},
    {Metric::build_version, "reprise_build_info", Type::Gauge, "version",
     "1, labelled with the version of this program."},
    {Metric::process_cpu, "process_cpu_seconds_total", Type::Counter, "",
     "User and system CPU time of the process, in seconds."},
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
