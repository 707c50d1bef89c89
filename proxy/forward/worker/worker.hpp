// Everything that one io thread owns or borrows: its event loop, tick, pool, dice, and the shared parts
// behind references.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/forward/replay/replay_store.hpp"
#include "proxy/forward/worker/idle_clients.hpp"
#include "proxy/forward/worker/sessions.hpp"
#include "proxy/net/dial/dialer.hpp"
#include "proxy/net/io/descriptors.hpp"
#include "proxy/net/io/spare_blocks.hpp"
#include "proxy/net/io/tick.hpp"
#include "proxy/net/resolve/resolver.hpp"
#include "proxy/net/upstream/budget_table.hpp"
#include "proxy/net/upstream/host_guards.hpp"
#include "proxy/net/upstream/pool.hpp"
#include "proxy/net/upstream/snapshot.hpp"
#include "proxy/policy/pacing/dice.hpp"
#include "proxy/policy/pacing/latency.hpp"
#include "proxy/telemetry/history/stories.hpp"
#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"
#include "proxy/telemetry/tracing/span_queue.hpp"

namespace reprise::forward {

struct Request;

/// What all io threads share. Each part is thread-safe or immutable.
struct Shared {
  telemetry::Metrics& metrics;
  telemetry::Log& log;
  net::BudgetTable& budgets;
  net::HostGuards& host_guards;
  net::Resolver& resolver;
  ReplayStore& replay;
  std::string pseudonym;  ///< our name in Via and Proxy-Status: `reprise-` and random characters
  std::atomic<std::size_t> client_connections{0};
  /// Told of every finished exchange, beside the metrics; empty: nobody is.
  std::function<void(const telemetry::ExchangeRecord&)> witness = nullptr;
  /// How long a tunnel's ends are listened to before it is opaque: 200 ms at most (row G7), for the tick may
  /// be late by a granule.
  Duration first_words_limit = std::chrono::milliseconds(200) - net::Tick::granule;
  /// What connections to upstreams are made of.
  net::LinkFactory links = {};
  net::OwnDials own_dials = {};
  telemetry::Stories* stories = nullptr;   ///< null: none are kept
  telemetry::SpanQueues* spans = nullptr;  ///< null: there are never any
};

/// An io_context that can destroy what waits on it while everything else still stands.
class EventLoop : public asio::io_context {
 public:
  using asio::io_context::io_context;
  void destroy_handlers() { shutdown(); }
};

/// One per io thread; everything here but `shared` is used on that thread only.
struct Worker {
  /// `thread`: its number, from 0, among those that keep stories.
  Worker(Shared& shared, std::shared_ptr<const net::Snapshot> snapshot, std::uint64_t seed,
         std::size_t thread = 0);
  ~Worker();

  std::unique_ptr<Request> lend_request();
  void give_back(std::unique_ptr<Request>);
  /// IMF-fixdate of this second.
  std::string_view date();
  /// From now on requests begin under that one.
  void take_up(std::shared_ptr<const net::Snapshot>);
  /// Closes a client's connection that nobody is known to need; false if there is none.
  bool make_room();
  /// What a dial for a request that began under that one works with.
  net::Dialer dialer(const net::Snapshot&);
  /// What first attempts of that route have taken on this thread; by the number under which it is counted.
  policy::ObservedLatency& latency(std::size_t route);

  Shared& shared;
  std::shared_ptr<const net::Snapshot> snapshot;  ///< never null
  EventLoop io{1};
  net::Tick tick{io};
  policy::SeededDice dice;
  net::Pool pool;
  Sessions sessions;
  /// Between two requests. Whoever asked within the last second counts as busy: its next one may be on its
  /// way.
  IdleClients resting{std::chrono::seconds(1)};
  /// With a FIN of theirs, and a request or a tunnel under way: the first to make room (row N6).
  IdleClients departed{Duration::zero()};
  net::ReserveDescriptor reserve;
  unsigned turning_away = 0;      ///< clients that get a 503 and are not gone yet
  telemetry::StoryBook* stories;  ///< of this thread; null: none are kept
  telemetry::SpanQueue* spans;    ///< of this thread; null: there are never any
  bool draining = false;
  bool leaving = false;  ///< told to drain: a response ends its connection, and says so

 private:
  net::SpareBlocks spare_blocks_{tick};
  std::vector<std::unique_ptr<Request>> idle_requests_;
  std::vector<std::unique_ptr<policy::ObservedLatency>> latencies_;  ///< by route; null until asked for
  std::int64_t date_second_ = 0;
  std::string date_;
};

/// Shutdown of an io thread: nothing is kept open for another request, and every session is told.
void drain(Worker&);
/// The grace is over.
void abort(Worker&);

}  // namespace reprise::forward
