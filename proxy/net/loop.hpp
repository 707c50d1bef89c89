// Everything that one io thread owns or borrows: its event loop, tick, pool, dice, and the shared parts
// behind references.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/http/head.hpp"
#include "proxy/net/budgets.hpp"
#include "proxy/net/descriptors.hpp"
#include "proxy/net/doors.hpp"
#include "proxy/net/gates.hpp"
#include "proxy/net/pool.hpp"
#include "proxy/net/replay_store.hpp"
#include "proxy/net/resolver.hpp"
#include "proxy/net/resting.hpp"
#include "proxy/net/tick.hpp"
#include "proxy/observe/access_log.hpp"
#include "proxy/observe/metrics.hpp"
#include "proxy/policy/dice.hpp"
#include "proxy/policy/latency.hpp"

namespace reprise::net {

class Session;
class TlsClients;
struct Request;

/// What all io threads share. Each part is thread-safe or immutable.
struct Shared {
  const config::Settings& settings;
  observe::Metrics& metrics;
  observe::Log& log;
  Budgets& budgets;
  Gates& gates;
  Resolver& resolver;
  ReplayStore& replay;
  const Doors& doors;
  const TlsClients& tls;
  std::string pseudonym;  ///< our name in Via and Proxy-Status: `reprise-` and random characters
  /// limits.connections, or what the descriptors allow where that is fewer.
  std::size_t most_clients = std::numeric_limits<std::size_t>::max();
  std::atomic<std::size_t> client_connections{0};
  /// Told of every finished exchange, beside the metrics; empty: nobody is.
  std::function<void(const observe::ExchangeRecord&)> witness = nullptr;
  /// How long a tunnel's ends are listened to before it is opaque: 200 ms at most (row G7), for the tick may
  /// be late by a granule.
  Duration first_words_limit = std::chrono::milliseconds(200) - Tick::granule;
  /// Makes what connections to upstreams run over, if not sockets.
  std::function<std::unique_ptr<Link>(const asio::any_io_executor&)> make_link = nullptr;
  /// Makes what TLS is to such a link: of the link, and of who the upstream has to be.
  std::function<std::unique_ptr<SecureLink>(Carrier, std::string_view name)> make_secure = nullptr;
};

/// Intrusive list of the sessions of a loop, so that shutdown and tests can reach them.
class Sessions {
 public:
  void add(Session&);
  void remove(Session&);
  /// Calls `visit` for each; a visited session may remove itself.
  template <typename Visit>
  void each(Visit visit);

 private:
  Session* first_ = nullptr;
};

/// An io_context that can destroy what waits on it while everything else still stands.
class EventLoop : public asio::io_context {
 public:
  using asio::io_context::io_context;
  void destroy_handlers() { shutdown(); }
};

/// One per io thread; everything here but `shared` is used on that thread only.
struct Loop {
  Loop(Shared& shared, std::uint64_t seed);
  ~Loop();

  /// A connection to be, for one upstream.
  std::unique_ptr<Stream> open_stream();
  std::unique_ptr<Request> lend_request();
  void give_back(std::unique_ptr<Request>);
  /// IMF-fixdate of this second.
  std::string_view date();
  static std::int64_t wall_nanoseconds() { return Clock::wall_nanoseconds(); }
  /// What first attempts of that route have taken on this thread.
  policy::ObservedLatency& latency(std::size_t route);

  Shared& shared;
  EventLoop io{1};
  Tick tick{io};
  policy::SeededDice dice;
  Pool pool;
  http::HeadLimits head_limits;
  Sessions sessions;
  RestingClients resting;
  ReserveDescriptor reserve;
  unsigned turning_away = 0;  ///< clients that get a 503 and are not gone yet
  bool draining = false;

 private:
  std::vector<std::unique_ptr<Request>> idle_requests_;
  std::vector<std::unique_ptr<policy::ObservedLatency>> latencies_;  ///< by route; null until asked for
  std::int64_t date_second_ = 0;
  std::string date_;
};

}  // namespace reprise::net
