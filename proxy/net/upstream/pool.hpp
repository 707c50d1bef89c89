// The idle upstream connections of one io thread, grouped by upstream. Each connection is checked before it
// is used again.
#pragma once

#include <array>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/settings.hpp"
#include "proxy/net/ends/http1_upstream.hpp"
#include "proxy/net/io/stream.hpp"
#include "proxy/net/upstream/address_filter.hpp"
#include "proxy/net/upstream/budget_table.hpp"
#include "proxy/net/upstream/host_guards.hpp"
#include "proxy/net/upstream/parent_exceptions.hpp"
#include "proxy/policy/decision/upstream_address.hpp"
#include "proxy/policy/pacing/idle_life.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

class Http2Set;
class Pin;
class Pool;
class TlsClient;
struct TlsTicket;
struct Upstream;

/// How to verify an upstream: TLS settings, and the name that its certificate must prove. Without TLS
/// settings, the connection is plaintext and the upstream is not verified.
struct TlsPeer {
  const TlsClient* client = nullptr;  ///< null: plaintext
  std::string_view name;  ///< name that the upstream's certificate must prove; letter case does not matter
};

/// A connection to one upstream. Owned by the attempt that uses it, or by the pool while idle.
class UpstreamConnection final : public Timed {
 public:
  UpstreamConnection(Pool&, std::shared_ptr<Upstream>, std::unique_ptr<Stream>);
  ~UpstreamConnection() override;

  /// Returns the connection itself, for byte streams.
  Stream& stream() { return *stream_; }
  /// Returns the end that carries requests.
  UpstreamEnd& end() { return end_; }
  /// Returns true once the connection has carried a request. If such a connection ends, the server may have
  /// closed it only because it was idle.
  bool reused() const { return reused_; }
  /// Sets how long the connection may be idle: `timeout` of the upstream's Keep-Alive field, minus one
  /// second. If zero, the connection is not pooled.
  void set_idle_life(Duration life) { idle_life_ = life; }
  const Upstream& upstream() const { return *upstream_; }
  /// Returns the address of the other side.
  const policy::UpstreamAddress& address() const { return address_; }
  /// Sets the address of the other side, and the filter that allowed the dial.
  void set_address(const policy::UpstreamAddress& address, std::shared_ptr<const AddressFilter> allowed_by) {
    address_ = address;
    allowed_by_ = std::move(allowed_by);
  }
  /// Returns true if the filter denies the connection's address. No request is sent on the connection in that
  /// case (row N3).
  bool is_denied(const std::shared_ptr<const AddressFilter>&);
  /// Sets when the connection reaches its maximum age. From then on it is closed after its current request
  /// (row N2).
  void expire_at(Instant end) { expires_ = end; }
  /// Returns the number of the connection, from 1, which is unique in its pool.
  std::uint64_t number() const { return number_; }
  /// Reserves the connection for the client of `pin`: after use it returns to `pin` and not to the pool (row
  /// F2). Precondition: `pin` outlives the use of the connection.
  void pin_to(Pin& pin) { pin_ = &pin; }
  /// Returns the connection itself, for another use. Only the destructor may be called then.
  std::unique_ptr<Stream> take_stream() { return std::move(stream_); }

 protected:
  void time_is_up() override;

 private:
  friend class Pool;
  Pool& pool_;
  std::shared_ptr<Upstream> upstream_;
  std::unique_ptr<Stream> stream_;
  Http1Upstream end_{*stream_};
  Pin* pin_ = nullptr;
  Instant idle_since_{};
  Duration idle_life_ = Duration::max();
  std::optional<Instant> expires_;
  policy::UpstreamAddress address_{};
  std::shared_ptr<const AddressFilter> allowed_by_;  ///< last filter that allowed `address_`; may be null
  std::uint64_t number_;
  bool reused_ = false;
  bool idle_ = false;
};

/// State of one io thread for one upstream: a host and port, over plaintext or over TLS with one
/// TlsPeer. Two upstreams never share connections (row F1).
struct Upstream {
  std::string key;
  std::string account;  ///< "host:port" in lower case, the key of budgets, circuits and pauses
  telemetry::UpstreamCells* cells = nullptr;  ///< metrics of the upstream's attempts; null for a parent proxy
  std::string host;
  std::uint16_t port = 0;
  const TlsClient* tls = nullptr;             ///< null: plaintext
  std::shared_ptr<const TlsClient> tls_kept;  ///< shared ownership of `tls`, which may outlive its snapshot
  std::string server_name;                    ///< over TLS: the name that the upstream must prove
  std::shared_ptr<TlsTicket> ticket;  ///< over TLS: the newest session, which the next connection resumes
  std::deque<std::unique_ptr<UpstreamConnection>> idle;  ///< idle connections, the most recently used last
  std::shared_ptr<Http2Set> http2;                       ///< its HTTP/2 connections; null until first used
  policy::IdleLife idle_life;        ///< how long the upstream keeps idle connections, as observed
  std::shared_ptr<Upstream> parent;  ///< the parent proxy, if there is one
  unsigned dials = 0;  ///< number of dials so far; each dial starts with another address of the host (row N2)
  /// Addresses of the host at the last dial, if there were several.
  std::vector<policy::UpstreamAddress> addresses;
  bool evicted = false;    ///< the pool has evicted this upstream and closes connections that are returned
  Instant last_warning{};  ///< time of the last logged warning about this upstream
  /// Time of the last response with a status below 400, if it was HTTP/1.0. Error pages are ignored, because
  /// an intermediary may have written them (row L7).
  std::optional<Instant> spoke_1_0;
  /// Returns true if the upstream cannot read chunks (row A10) and will not send 100 (RFC 9110 10.1.1).
  /// Applies for a minute after the last HTTP/1.0 response.
  bool speaks_1_0() const { return spoke_1_0 && Tick::now() - *spoke_1_0 < std::chrono::minutes(1); }
  /// Until when requests are sent over HTTP/1, because the upstream required it on an HTTP/2 connection (row
  /// M29).
  std::optional<Instant> http1_until;
  bool requires_http1() const { return is_ahead(http1_until); }
  static bool is_ahead(const std::optional<Instant>& time) { return time && Tick::now() < *time; }
  /// What is known of an upstream whose routes may use either version (rows M20 and M21).
  struct KnownVersion {
    bool http1_over_tls = false;           ///< the last handshake that offered both has chosen HTTP/1
    std::optional<Instant> http1_until{};  ///< in clear text: until when HTTP/2 is not tried
    /// In clear text: until when gRPC calls fail without a dial, because the upstream does not speak HTTP/2.
    std::optional<Instant> no_calls_until{};
    /// Until when requests for a WebSocket are sent over HTTP/1, because the upstream's SETTINGS did not
    /// permit an extended CONNECT.
    std::optional<Instant> no_websockets_until{};
    unsigned closed_in_a_row = 0;  ///< in clear text: connections that were closed without a byte

    /// Returns true if the upstream seems not to speak HTTP/2 in clear text.
    bool is_http1() const { return is_ahead(http1_until); }
    bool upgrades_over_http1() const { return is_ahead(no_websockets_until); }
    bool fails_calls() const { return is_ahead(no_calls_until); }
  };
  KnownVersion version;
  /// A budget that was used for this upstream. Stored here too, so that a request does not have to lock the
  /// table of budgets that all threads share.
  struct KnownBudget {
    policy::BudgetPolicy policy;
    BudgetKind budget_kind;
    std::shared_ptr<policy::Budget> budget;
  };
  std::vector<KnownBudget> budgets;
  std::vector<std::pair<policy::CircuitPolicy, std::shared_ptr<policy::Circuit>>>
      circuits;                              ///< circuits used for this upstream so far
  std::shared_ptr<policy::HostPause> pause;  ///< pause of all requests to the host; null until first used
};

/// Returns true if the filter denies the address, or if a parent proxy resolves the host and the filter
/// denies the host.
bool is_denied(const AddressFilter&, const Upstream&, const policy::UpstreamAddress&);

/// Which idle connections may be used, so that a non-idempotent request never uses a stale connection (row
/// F10).
enum class Freshness : std::uint8_t {
  any,
  recent,  ///< used within `recent_limit`
  unused,  ///< has carried no request, and was dialled within `recent_limit`
};
inline constexpr Duration recent_limit = std::chrono::seconds(1);

/// Numbers of the connections that the next attempt of a request must not use (0: none). There are two if the
/// request was hedged.
using RecentConnections = std::array<std::uint64_t, 2>;

/// One per io thread; used on that thread only. Holds at most `limits.upstreams` hosts; evicts the least
/// recently used host that is not in use.
class Pool {
 public:
  Pool(Tick&, const config::Pool&, std::size_t most_upstreams, BudgetTable&, HostGuards&,
       telemetry::Metrics&);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Sets the parent proxy for every upstream except those in `except` (`parent.except` in the settings). All
  /// hosts share one pool of connections to the parent. If any of these settings changes, all upstreams are
  /// evicted.
  void go_through(std::string_view host, std::uint16_t port, TlsPeer = {},
                  const std::vector<std::string>& except = {});
  /// Removes the parent proxy.
  void go_directly();
  /// Applies `settings` to all connections that become idle from now on.
  void limit(const config::Pool& settings) { settings_ = settings; }
  /// Returns the upstream, and creates it if it is unknown. May evict another one.
  std::shared_ptr<Upstream> upstream(std::string_view host, std::uint16_t port, TlsPeer = {});
  /// Returns the HTTP/2 connections of the upstream.
  Http2Set& http2(Upstream&);
  policy::Budget* budget(Upstream&, const policy::BudgetPolicy&, BudgetKind);
  policy::Circuit* circuit(Upstream&, const policy::CircuitPolicy&);
  policy::HostPause* pause(Upstream&);

  /// Returns an idle connection that has received no FIN and no unsolicited bytes; null if there is none. The
  /// connection has not been idle for longer than the upstream is known to keep idle connections. It is not
  /// one of the `recent` connections, and does not go to an address in `not_to`.
  [[nodiscard]] std::unique_ptr<UpstreamConnection> lease(
      Upstream&, Freshness, const RecentConnections& recent = {},
      std::span<const policy::UpstreamAddress> not_to = {});
  /// Lends the connection that was dialled last and has carried no request. The upstream may have sent bytes
  /// on it, as it does to open HTTP/2. Returns null if there is none.
  [[nodiscard]] std::unique_ptr<UpstreamConnection> lease_unused(Upstream&, const RecentConnections& recent);
  /// Reports that a reused connection has ended without a response: the upstream had closed the connection at
  /// `end` or earlier. Closes all connections that are stale according to this observation.
  void ended_after_idle(const UpstreamConnection&, Instant end);
  /// Returns a connection to the pool. Precondition: its last response was read completely. Closes the
  /// connection if the pool is full or closing.
  void give_back(std::unique_ptr<UpstreamConnection>);
  /// Adds a fresh connection to the pool; the connection has carried no request. Closes the connection if the
  /// pool is full or closing.
  void give_unused(std::unique_ptr<UpstreamConnection>);
  /// Closes one idle connection to free its descriptor: the oldest connection of the least recently used
  /// upstream. Returns false if no connection is idle.
  bool make_room();
  /// Closes every idle connection, and every connection that is returned later.
  void close();

 private:
  friend class Http2Set;
  friend class SharedConnection;
  friend class UpstreamConnection;
  void make_idle(std::unique_ptr<UpstreamConnection>);
  std::unique_ptr<UpstreamConnection> take(Upstream&, std::size_t place);
  void close_outlived(Upstream&, Instant now);
  void discard(UpstreamConnection&);
  std::shared_ptr<Upstream> add_upstream(std::string_view host, std::uint16_t port,
                                         std::size_t account_bytes);
  static void prove(Upstream&, TlsPeer);
  void evict_oldest();
  void evict_all();

  using Order = std::list<std::shared_ptr<Upstream>>;
  Tick& tick_;
  config::Pool settings_;
  const std::size_t most_upstreams_;
  BudgetTable& budgets_;
  HostGuards& host_guards_;
  telemetry::Metrics& metrics_;
  Order order_;  ///< upstreams; the most recently used is first
  std::unordered_map<std::string_view, Order::iterator> upstreams_;
  std::shared_ptr<Upstream> parent_;
  ParentExceptions exceptions_;  ///< hosts that are reached without `parent_`
  std::string scratch_;
  std::uint64_t connections_ = 0;  ///< number of connections made so far
  bool closing_ = false;
};

}  // namespace reprise::net
