// The metrics of the process. Counters are resolved once per configuration and never looked up per request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/policy/decision/http2_code.hpp"
#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/pacing/circuit.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"
#include "proxy/telemetry/log/unread_hosts.hpp"
#include "proxy/telemetry/metrics/last_minute.hpp"
#include "proxy/telemetry/metrics/upstream_cells.hpp"

namespace reprise::telemetry {

/// How a tunnel ended. `denied`: a reload denied its address. `http`: the tunnel carried plain HTTP requests,
/// which were served one by one.
enum class TunnelOutcome : std::uint8_t { closed, broken, idle, drained, denied, http };
/// The protocol that http::DetectedProtocol detects at the start of a stream: after CONNECT, through SOCKS or
/// on a redirected connection.
enum class Protocol : std::uint8_t { http, http2, tls, server_first, silence, opaque };
/// What reprise did with a TLS stream to a host that `intercept` lists or might list.
enum class Interception : std::uint8_t {
  intercepted,        // handshake completed: the requests are served one by one
  unlisted,           // tunnelled unread: `intercept` does not list the host
  no_server_name,     // tunnelled unread: no SNI, or an unreadable ClientHello
  other_server_name,  // tunnelled unread: SNI is not the requested host
  no_http_1_1,        // tunnelled unread: ALPN offers neither HTTP/1.1 nor, where it is accepted, HTTP/2
  handshake_failed,   // ended: the client or OpenSSL reported an error
  handshake_timeout,  // ended by timers.handshake
  no_certificate,     // ended: no certificate could be made for the name
};
/// Returns the metric label: the enumerator's name.
std::string_view word(Interception);
enum class LookupOutcome : std::uint8_t { hit, resolved, failed, timeout };
/// States of an upstream connection: the label `state` of `reprise_upstream_connections`.
enum class UpstreamState : std::uint8_t { active, idle };
/// The other end of an HTTP/2 connection: the label `side`.
enum class Http2Side : std::uint8_t { upstream, client };
/// The limit that ended a connection, rejected a client or slowed down a response: the label of
/// `reprise_limits_hit_total{limit}`.
enum class LimitHit : std::uint8_t {
  connection_limit,  // 503 on arrival: limits.connections is reached
  no_descriptor,     // 503 on arrival: the process has no free file descriptor
  room,              // an idle client connection was closed to make room for a new one
  keep_alive,        // a client connection was idle for timers.keep_alive
  header,            // 408: the head was not complete within timers.header
  handshake,         // a ClientHello, a TLS handshake or a SOCKS greeting took longer than timers.handshake
  request_idle,      // the client sent no byte of the body for idle_timeout
  // the upstream took no byte of the request for idle_timeout, or had acknowledged no byte of the body at the
  // deadline
  request_unread,
  response_idle,    // the upstream sent no byte of the body for idle_timeout or resume.stall
  response_unread,  // the client took no byte of the response for idle_timeout
  // the window of an HTTP/2 stream was kept small, because limits.stream_memory is reached; once for each
  // stream
  stream_memory,
};
inline constexpr std::size_t limit_hit_count = policy::count_of<LimitHit>;
/// Returns the metric label: the enumerator's name.
std::string_view word(LimitHit);

/// Result of a reload: whether the new configuration was applied.
enum class ReloadOutcome : std::uint8_t { success, failed };
/// Returns the metric label: the enumerator's name.
std::string_view word(ReloadOutcome);

/// The reason why spans were dropped: the label of `reprise_trace_dropped_total{cause}`.
enum class SpanDrop : std::uint8_t {
  queue_full,     // requests end faster than the collector takes their spans
  unreachable,    // no attempt to send them got a complete response from the collector
  busy,           // the collector responded 429, 502, 503 or 504 to every attempt to send them
  refused,        // the collector rejected the whole batch with a status other than 429, 502, 503 or 504
  rejected,       // the collector took the batch but rejected these spans
  switched_off,   // a reload removed the collector from the configuration
  shutting_down,  // no time was left at shutdown to send the spans
};
/// Returns the metric label: the enumerator's name.
std::string_view word(SpanDrop);

/// Purpose of a certificate that reprise uses itself: the label `certificate`.
enum class CertificateUse : std::uint8_t { authority, client };

/// Text formats of the metrics: Prometheus text 0.0.4, OpenMetrics 1.0.0.
enum class Exposition : std::uint8_t { text, open_metrics };

/// The medium that holds request bodies: the label `store` of `reprise_replay_bytes`.
enum class ReplayMedium : std::uint8_t { memory, disk };

/// All metrics, for the life of the process. All members are thread-safe. Counting takes no lock, except the
/// lock of UnreadHosts.
class Metrics {
 public:
  /// `routes`: route names in table order. `rejections`: the words of http::Rejection, in the order of its
  /// enumerators. `version`: value for build_info.
  Metrics(std::span<const std::string> routes, std::span<const std::string_view> rejections,
          std::string_view version, UpstreamLabels upstreams = {});
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// Returns the number under which the requests of that route are counted (`ExchangeRecord::route`). The
  /// number is valid for the life of this object. If the list of routes is full, a new name gets the number
  /// of the last name in the list.
  std::size_t route(std::string_view name);
  /// Counts one finished request in the metrics for requests, gRPC calls, durations, attempts, retries,
  /// refusals, recovered, exhausted, backoff, Retry-After and ambiguous. All values come from the request's
  /// ledger.
  ///  - A retry is counted for each ledger entry whose verdict is a retry.
  ///  - A refusal is counted once per request, by the ledger's final reason, unless this reason is `success`
  ///    or leads to a retry. If a wait ended early, the final reason is what ended that wait, for example
  ///    `client_gone`.
  ///  - An opened tunnel is counted neither as a request nor in the durations.
  void count(const ExchangeRecord&);
  /// Returns the counters of the upstream "host:port", for `ExchangeRecord::upstream`. They are valid for the
  /// life of this object.
  UpstreamCells& upstream(std::string_view host_port);
  /// Returns the upstream's label, for set_budget_ratio and set_circuit_state.
  std::string_view upstream_label(std::string_view host_port) const;
  void count_rejection(std::size_t cause);
  void count_tunnel(TunnelOutcome);
  /// Counts an HTTPS tunnel whose requests could not be read, as UnreadHosts::count does. Returns true for
  /// the first such tunnel to that host.
  bool count_unread(std::string_view host_port, std::string_view intercept);
  void count_stream(Protocol);
  void count_interception(Interception);
  void count_lookup(LookupOutcome);
  void count_limit(LimitHit);
  void count_reload(ReloadOutcome);
  void count_spans(std::uint64_t taken);
  void count_dropped_spans(SpanDrop, std::uint64_t number);
  void set_log_dropped(std::uint64_t total);
  /// Records the hash of the current configuration. `unix_time`: when this configuration was applied, in
  /// seconds since 1970.
  void set_config_hash(std::string_view hash, std::int64_t unix_time);
  void client_connected();
  void client_disconnected();
  void upstream_changed(UpstreamState, int by);
  void http2_connections_changed(Http2Side, int by);
  void http2_streams_changed(Http2Side, int by);
  void count_http2_goaways(Http2Side, policy::Http2Code, std::uint64_t number = 1);
  void count_http2_resets(Http2Side, policy::Http2Code, std::uint64_t number = 1);
  void count_http2_flood(policy::Http2Flood);
  /// Counts an attempt that had to wait for an HTTP/2 stream.
  void count_http2_wait(policy::Duration);
  void replay_bytes_changed(ReplayMedium, std::int64_t by);
  void set_replay_limit(ReplayMedium, std::uint64_t bytes);
  /// Sets the time in seconds until the first certificate with that use expires; absent if there is no such
  /// certificate. Called at scrape time on the page thread.
  void set_certificate_left(CertificateUse, std::optional<std::int64_t> seconds);
  /// Sets the fraction of an upstream's budget that is left. Called at scrape time on the page thread.
  /// `upstream`: the label of the upstream.
  void set_budget_ratio(std::string_view upstream, double ratio);
  /// Sets the state of an upstream's circuit. Called at scrape time on the page thread. `upstream`: the label
  /// of the upstream.
  void set_circuit_state(std::string_view upstream, policy::Circuit::State);

  /// Returns all metrics as text. Takes milliseconds, so it must be called on the thread that generates admin
  /// pages.
  std::string text(Exposition = Exposition::text);

  /// Current totals for /status.
  struct Totals {
    std::uint64_t requests = 0, attempts = 0, retries = 0, recovered = 0, exhausted = 0, rejected = 0;
    std::int64_t client_connections = 0;
    std::int64_t upstream_active = 0, upstream_idle = 0;  ///< number of connections
    std::uint64_t tunnels = 0;  ///< tunnels that ended, except those whose requests were served one by one
    std::int64_t http2_connections = 0, http2_streams = 0;  ///< to upstreams
  };
  Totals totals() const;

  /// Counts keyed by word, in the order of a fixed list of words. Words whose count is 0 are omitted.
  using Counts = std::vector<std::pair<std::string_view, std::uint64_t>>;

  /// Totals of the requests of one route.
  struct RouteTotals {
    std::uint64_t requests = 0, retries = 0, recovered = 0, exhausted = 0;
    Counts refused;  ///< by reason
    /// Number of responses by class of the status that was sent: `1xx` to `5xx`, `other`, `grpc` (the HTTP
    /// status is 200, but the status of the call reports a failure of the server), `cut`, `client_gone`.
    Counts responses;
    /// Number of requests in each bucket of duration_bounds(); the last item counts the requests above the
    /// highest bound. Empty if there were no requests. Tunnels are not counted.
    std::vector<std::uint64_t> durations;
  };
  RouteTotals totals_of(std::size_t route) const;
  /// Returns those seconds of the last minute that have counts, the oldest first.
  std::vector<CountedSecond<RouteNumbers>> last_minute_of(std::size_t route, policy::Instant now) const;
  /// Returns the bounds of the duration buckets in seconds, ascending.
  static std::span<const double> duration_bounds();

  /// The attempts at one upstream, by outcome. `name` is the upstream's label and stays valid as long as the
  /// Metrics exist.
  struct UpstreamTotals {
    std::string_view name;
    Counts attempts;
    std::vector<CountedSecond<AttemptNumbers>> last_minute;
  };
  /// Returns the upstreams that got attempts, sorted by name; `other` is last.
  std::vector<UpstreamTotals> upstream_totals(policy::Instant now) const;
  /// Returns the hosts whose HTTPS could not be read, as UnreadHosts::list does.
  std::vector<UnreadHost> unread_hosts() const;

 private:
  struct Cells;
  std::unique_ptr<Cells> cells_;
};

}  // namespace reprise::telemetry
