// Idle upstream connections of one io thread, by who is at
// the other end, each proved quiet before it is lent again.
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
#include "proxy/net/io/stream.hpp"
#include "proxy/net/upstream/address_filter.hpp"
#include "proxy/net/upstream/budget_table.hpp"
#include "proxy/net/upstream/host_guards.hpp"
#include "proxy/net/upstream/parent_exceptions.hpp"
#include "proxy/policy/decision/upstream_address.hpp"
#include "proxy/policy/pacing/idle_life.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

class Pin;
class Pool;
class TlsClient;
struct TlsTicket;
struct Upstream;

/// How an upstream is made sure of: not at all (clear text),
/// or by TLS settings and the name that it has to prove.
struct TlsPeer {
  const TlsClient* client = nullptr;  ///< null: clear text
  std::string_view name;              ///< who it has to be, spelled in whatever way
};

/// A connection to one upstream; owned by the attempt that uses it, or by the pool while idle.
class UpstreamConnection final : public Timed {
 public:
  UpstreamConnection(Pool&, std::shared_ptr<Upstream>, std::unique_ptr<Stream>);
  ~UpstreamConnection() override;

  Stream& stream() { return *stream_; }
  /// True once it has carried a request: its end may then be the idle close of a server.
  bool reused() const { return reused_; }
  /// How long the upstream promised to keep it (Keep-Alive: timeout, less one second); zero: do not pool it.
  void set_idle_life(Duration life) { idle_life_ = life; }
  const Upstream& upstream() const { return *upstream_; }
  /// Where it goes.
  const policy::UpstreamAddress& address() const { return address_; }
  /// `allowed_by`: the filter that let it be dialled.
  void set_address(const policy::UpstreamAddress& address, std::shared_ptr<const AddressFilter> allowed_by) {
    address_ = address;
    allowed_by_ = std::move(allowed_by);
  }
  /// True if that filter denies where it goes. A request is not sent over it then (row N3).
  bool is_denied(const std::shared_ptr<const AddressFilter>&);
  /// It rests no more from then on: what it carries is its last (row N2).
  void expire_at(Instant end) { expires_ = end; }
  /// One of its own in its pool, from 1.
  std::uint64_t number() const { return number_; }
  /// From now on it is given back to that pin, which outlives its use, and to nobody else (row F2).
  void pin_to(Pin& pin) { pin_ = &pin; }

 protected:
  void time_is_up() override;

 private:
  friend class Pool;
  Pool& pool_;
  std::shared_ptr<Upstream> upstream_;
  std::unique_ptr<Stream> stream_;
  Pin* pin_ = nullptr;
  Instant idle_since_{};
  Duration idle_life_ = Duration::max();
  std::optional<Instant> expires_;
  policy::UpstreamAddress address_{};
  std::shared_ptr<const AddressFilter> allowed_by_;  ///< the last that was asked; null: nobody was
  std::uint64_t number_;
  bool reused_ = false;
  bool idle_ = false;
};

/// What an io thread knows of one upstream: a host and port, in clear text or as one TlsPeer. Connections are
/// never shared between two of them (row F1).
struct Upstream {
  std::string key;
  std::string account;  ///< "host:port", host in lower case: by it budgets, circuits and pauses are shared
  telemetry::UpstreamCells* cells = nullptr;  ///< where attempts at it are counted; null for a parent proxy
  std::string host;
  std::uint16_t port = 0;
  const TlsClient* tls = nullptr;             ///< null: clear text
  std::shared_ptr<const TlsClient> tls_kept;  ///< the same, where it is shared: it outlives its snapshot
  std::string server_name;                    ///< over TLS: who it has to be
  std::shared_ptr<TlsTicket> ticket;          ///< over TLS: to resume its newest session with
  std::deque<std::unique_ptr<UpstreamConnection>> idle;  ///< the most recently used last
  policy::IdleLife idle_life;                            ///< of those, as far as it has shown
  std::shared_ptr<Upstream> parent;                      ///< the parent proxy, where there is one
  unsigned dials = 0;  ///< so far: each begins at another address of the name (row N2)
  std::vector<policy::UpstreamAddress>
      addresses;           ///< of the name when it was last dialled, if it has several
  bool forgotten = false;  ///< nobody will ask for it: nothing comes to rest here
  Instant told{};          ///< when the log was last warned of what fails here
  /// When its last response below 400 came, if that was one of HTTP/1.0. Error pages teach nothing: it need
  /// not be the upstream that wrote them (row L7).
  std::optional<Instant> spoke_1_0;
  /// It cannot read chunks (row A10), and will send no 100 (RFC 9110 10.1.1): true for a minute.
  bool speaks_1_0() const { return spoke_1_0 && Tick::now() - *spoke_1_0 < std::chrono::minutes(1); }
  /// Budget accounts met so far, so that a request does not ask the shared table.
  struct KnownBudget {
    policy::BudgetPolicy policy;
    BudgetKind budget_kind;
    std::shared_ptr<policy::Budget> budget;
  };
  std::vector<KnownBudget> budgets;
  std::vector<std::pair<policy::CircuitPolicy, std::shared_ptr<policy::Circuit>>> circuits;  ///< the same
  std::shared_ptr<policy::HostPause> pause;                                                  ///< the same
};

/// True if that filter denies the address, or the host itself where a parent proxy is asked for it.
bool is_denied(const AddressFilter&, const Upstream&, const policy::UpstreamAddress&);

/// Which quiet connections will do: what must not be sent twice shall not meet a stale one (row F10).
enum class Freshness : std::uint8_t {
  any,
  recent,  ///< used within the last second
  unused,  ///< has carried no request yet, and was dialled within the last second
};

/// What must not carry a request's next attempt, by number (0: none): two connections where it was hedged.
using RecentConnections = std::array<std::uint64_t, 2>;

/// One per io thread; used on it only. Holds at most
/// `limits.upstreams` hosts, the longest unused idle one out.
class Pool {
 public:
  Pool(Tick&, const config::Pool&, std::size_t most_upstreams, BudgetTable&, HostGuards&,
       telemetry::Metrics&);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// From now on every upstream has this parent proxy. Its connections are one pool, whatever the requests
  /// that they carry are for. Where that changes anything, all that was known of upstreams is forgotten.
  /// An upstream that `except` lists (Parent::except of the settings) has no parent.
  void go_through(std::string_view host, std::uint16_t port, TlsPeer = {},
                  const std::vector<std::string>& except = {});
  /// From now on none has one.
  void go_directly();
  /// For connections that come to rest from now on.
  void limit(const config::Pool& settings) { settings_ = settings; }
  std::shared_ptr<Upstream> upstream(std::string_view host, std::uint16_t port, TlsPeer = {});
  policy::Budget* budget(Upstream&, const policy::BudgetPolicy&, BudgetKind);
  policy::Circuit* circuit(Upstream&, const policy::CircuitPolicy&);
  policy::HostPause* pause(Upstream&);

  /// A connection without FIN and without unasked bytes that has not rested for longer than this upstream has
  /// shown to allow, is none of the recent ones, and goes to none of the addresses `not_to`; or null.
  [[nodiscard]] std::unique_ptr<UpstreamConnection> lease(
      Upstream&, Freshness, const RecentConnections& recent = {},
      std::span<const policy::UpstreamAddress> not_to = {});
  /// A connection that was lent after a rest has ended without a response: at `end` at the latest its
  /// upstream had let go of it. What has rested too long by what that shows is closed.
  void ended_after_rest(const UpstreamConnection&, Instant end);
  /// Takes a connection back whose last response was read to its end.
  /// Closes it where the pool is full or closing.
  void give_back(std::unique_ptr<UpstreamConnection>);
  /// The same for a fresh connection that has carried nothing yet.
  void give_unused(std::unique_ptr<UpstreamConnection>);
  /// Closes the connection that has been idle longest at the upstream that was used longest ago: its
  /// descriptor is needed. False if none is idle.
  bool make_room();
  /// Closes every idle connection, and from now on every one given back.
  void close();

 private:
  friend class UpstreamConnection;
  void rest(std::unique_ptr<UpstreamConnection>);
  std::unique_ptr<UpstreamConnection> take(Upstream&, std::size_t place);
  void close_outlived(Upstream&, Instant now);
  void discard(UpstreamConnection&);
  std::shared_ptr<Upstream> add_upstream(std::string_view host, std::uint16_t port,
                                         std::size_t account_bytes);
  static void prove(Upstream&, TlsPeer);
  void forget_oldest();
  void forget_all();

  using Order = std::list<std::shared_ptr<Upstream>>;
  Tick& tick_;
  config::Pool settings_;
  const std::size_t most_upstreams_;
  BudgetTable& budgets_;
  HostGuards& host_guards_;
  telemetry::Metrics& metrics_;
  Order order_;  ///< the most recently used first
  std::unordered_map<std::string_view, Order::iterator> upstreams_;
  std::shared_ptr<Upstream> parent_;
  ParentExceptions exceptions_;  ///< to `parent_`
  std::string scratch_;
  std::uint64_t connections_ = 0;  ///< so far
  bool closing_ = false;
};

}  // namespace reprise::net
