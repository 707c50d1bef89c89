// Every number that reprise exports, resolved to its cell
// once per configuration and never looked up per request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/pacing/circuit.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"
#include "proxy/telemetry/log/unread_hosts.hpp"
#include "proxy/telemetry/metrics/last_minute.hpp"
#include "proxy/telemetry/metrics/upstream_cells.hpp"

namespace reprise::telemetry {

/// `denied`: a reload denied its address. `http`: it carried plain requests, which were served one by one.
enum class TunnelOutcome : std::uint8_t { closed, broken, idle, drained, denied, http };
/// What a stream begins with, behind CONNECT, through SOCKS, or redirected: as http::FirstWords has them.
enum class Protocol : std::uint8_t { http, http2, tls, server_first, silence, opaque };
/// What became of a TLS stream for a host that `intercept` lists, or that might be one.
enum class Interception : std::uint8_t {
  intercepted,        // the handshake is done: its requests are served one by one
  unlisted,           // tunnelled blind, as all that follow: no business of ours
  no_server_name,     // no SNI, or a hello that cannot be read
  other_server_name,  // SNI is not the host that was asked for
  no_http_1_1,        // ALPN offers only others
  handshake_failed,   // ended: with what the client or OpenSSL said
  handshake_timeout,  // ended by timers.handshake
  no_certificate,     // ended: none could be made for that name
};
/// The metric label: the enumerator's own name.
std::string_view word(Interception);
enum class LookupOutcome : std::uint8_t { hit, resolved, failed, timeout };
/// States of `reprise_upstream_connections`.
enum class UpstreamState : std::uint8_t { active, idle };
/// What ended a connection of ours or a client's, or turned a client away: `reprise_limits_hit_total{limit}`.
enum class LimitHit : std::uint8_t {
  connection_limit,  // 503 on arrival: limits.connections
  no_descriptor,     // 503 on arrival: this process may open no more files
  room,              // a resting client made room for a new one
  keep_alive,        // a client rested for timers.keep_alive
  header,            // 408: the head was not complete within timers.header
  handshake,         // a ClientHello, a TLS handshake or a SOCKS greeting took longer than timers.handshake
  request_idle,      // no byte of the body from the client for idle_timeout
  request_unread,    // the upstream took no byte of the request for idle_timeout,
                     // or the upstream's host had acknowledged no byte of the body at the deadline
  response_idle,     // no byte of the body from the upstream for idle_timeout, or resume.stall
  response_unread,   // the client took no byte of the response for idle_timeout
};
inline constexpr std::size_t limit_hit_count = policy::count_of<LimitHit>;
/// The metric label: the enumerator's own name, with `answer` in the place of `response`.
std::string_view word(LimitHit);

/// Whether a configuration that was read while running is in force.
enum class ReloadOutcome : std::uint8_t { success, failed };
/// The metric label: the enumerator's own name.
std::string_view word(ReloadOutcome);

/// Why spans were dropped: `reprise_trace_dropped_total{cause}`.
enum class SpanDrop : std::uint8_t {
  queue_full,     // they come faster than the collector takes them
  unreachable,    // it was not reached, or gave no whole response, in all tries
  busy,           // it asked for another try each time: 429, 502, 503, 504
  refused,        // it wants no such batch: any other status
  rejected,       // it took the batch but for these
  switched_off,   // a reload took the collector away
  shutting_down,  // there was no time left
};
/// The metric label: the enumerator's own name.
std::string_view word(SpanDrop);

/// Certificates of this side: the label `certificate`.
enum class CertificateUse : std::uint8_t { authority, client };

/// The forms in which the metrics are written: Prometheus text 0.0.4, OpenMetrics 1.0.0.
enum class Exposition : std::uint8_t { text, open_metrics };

/// Where `reprise_replay_bytes` are held: the label `store`.
enum class ReplayMedium : std::uint8_t { memory, disk };

/// One registry for the life of the process. All members are
/// thread-safe; counting takes no lock but a histogram's, and that of the hosts that could not be read.
class Metrics {
 public:
  /// `routes`: route names in table order. `rejections`: every word of http's list, in its order. `version`
  /// for build_info.
  Metrics(std::span<const std::string> routes, std::span<const std::string_view> rejections,
          std::string_view version, UpstreamLabels upstreams = {});
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// Where a route of that name is counted, for the life of this: for `ExchangeRecord::route`. Of names
  /// beyond what can be told apart, the last one's.
  std::size_t route(std::string_view name);
  /// A retry is counted per entry whose verdict says retry; a refusal once per request, by the ledger's final
  /// reason, unless that is `success` or a yes row: so a wait that was ended counts under what ended it.
  /// Requests, durations, attempts, retries, refusals, recovered, exhausted, backoff, Retry-After, ambiguous:
  /// all from one ledger. A tunnel that was opened is no request: it is in none of the first two.
  void count(const ExchangeRecord&);
  /// Where the attempts at "host:port" are counted, for the life of this: for `ExchangeRecord::upstream`.
  UpstreamCells& upstream(std::string_view host_port);
  /// Its label, for the gauges below.
  std::string_view upstream_label(std::string_view host_port) const;
  void count_rejection(std::size_t cause);
  void count_tunnel(TunnelOutcome);
  /// Counts a tunnel of HTTPS that could not be read, as UnreadHosts::count does. True for the host's first.
  bool count_unread(std::string_view host_port, std::string_view intercept);
  void count_stream(Protocol);
  void count_interception(Interception);
  void count_lookup(LookupOutcome);
  void count_limit(LimitHit);
  void count_reload(ReloadOutcome);
  void count_spans(std::uint64_t taken);
  void count_dropped_spans(SpanDrop, std::uint64_t number);
  void set_log_dropped(std::uint64_t total);
  /// In force since `unix_time`, in seconds.
  void set_config_hash(std::string_view hash, std::int64_t unix_time);
  void client_connected();
  void client_disconnected();
  void upstream_changed(UpstreamState, int by);
  void replay_bytes_changed(ReplayMedium, std::int64_t by);
  void set_replay_limit(ReplayMedium, std::uint64_t bytes);
  /// Called at scrape time on a page thread. Seconds until the first certificate of that use ends; absent:
  /// there is none.
  void set_certificate_left(CertificateUse, std::optional<std::int64_t> seconds);
  /// Called at scrape time on a page thread: label and ratio.
  void set_budget_ratio(std::string_view upstream, double ratio);
  /// The same for circuits.
  void set_circuit_state(std::string_view upstream, policy::Circuit::State);

  /// Takes milliseconds: call it on a page thread.
  std::string text(Exposition = Exposition::text);

  /// Live totals for /status.
  struct Totals {
    std::uint64_t requests = 0, attempts = 0, retries = 0, recovered = 0, exhausted = 0, rejected = 0;
    std::int64_t client_connections = 0;
    std::int64_t upstream_active = 0, upstream_idle = 0;  ///< connections
    std::uint64_t tunnels = 0;  ///< that ended, without those whose requests were served one by one
  };
  Totals totals() const;

  /// By word of a closed list, in its order; only what happened.
  using Counts = std::vector<std::pair<std::string_view, std::uint64_t>>;

  /// What has become of the requests of one route.
  struct RouteTotals {
    std::uint64_t requests = 0, retries = 0, recovered = 0, exhausted = 0;
    Counts refused;    ///< by reason
    Counts responses;  ///< by what was sent: `1xx` to `5xx`, `other`, `cut`, `client_gone`
    /// How many took at most the bound of duration_bounds() at that place, and more than the one before; the
    /// last one: longer. Empty where there was none. Tunnels are not in it.
    std::vector<std::uint64_t> durations;
  };
  RouteTotals totals_of(std::size_t route) const;
  /// The seconds of the last minute in which something was counted, the oldest first.
  std::vector<CountedSecond<RouteNumbers>> last_minute_of(std::size_t route, policy::Instant now) const;
  /// Seconds, ascending.
  static std::span<const double> duration_bounds();

  /// Attempts at one upstream, by outcome. Its name is its label, good for the life of this.
  struct UpstreamTotals {
    std::string_view name;
    Counts attempts;
    std::vector<CountedSecond<AttemptNumbers>> last_minute;
  };
  /// By name, then `other`; without those that nothing was sent to.
  std::vector<UpstreamTotals> upstream_totals(policy::Instant now) const;
  /// Hosts whose HTTPS could not be read, as UnreadHosts::list gives them.
  std::vector<UnreadHost> unread_hosts() const;

 private:
  struct Cells;
  std::unique_ptr<Cells> cells_;
};

}  // namespace reprise::telemetry
