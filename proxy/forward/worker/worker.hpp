// The state of one io thread: event loop, tick, pool, random numbers, and references to the objects that all
// io threads share.
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
#include "proxy/http/http2/stream_memory.hpp"
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
#include "proxy/telemetry/history/request_history.hpp"
#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"
#include "proxy/telemetry/tracing/span_queue.hpp"

namespace reprise::forward {

struct Request;

/// The objects that all io threads share. Each object is thread-safe or immutable.
struct Shared {
  telemetry::Metrics& metrics;
  telemetry::Log& log;
  net::BudgetTable& budgets;
  net::HostGuards& host_guards;
  net::Resolver& resolver;
  ReplayStore& replay;
  http::StreamMemory& stream_memory;
  std::string pseudonym;  ///< this proxy's name in Via and Proxy-Status: `reprise-` and random characters
  std::atomic<std::size_t> client_connections{0};
  /// Called for every finished exchange, in addition to the metrics; may be empty.
  std::function<void(const telemetry::ExchangeRecord&)> observer = nullptr;
  /// Time to detect the protocol of a tunnel before the tunnel counts as opaque. At most 200 ms (row G7); one
  /// tick granule is subtracted, because the tick may be late.
  Duration sniff_limit = std::chrono::milliseconds(200) - net::Tick::granule;
  /// Creates the transports of upstream connections.
  net::LinkFactory links = {};
  net::OwnDials own_dials = {};
  telemetry::RequestHistory* histories = nullptr;  ///< request history; null: not recorded
  telemetry::SpanQueues* spans = nullptr;          ///< null: spans are never sent
};

/// An io_context that can destroy its pending handlers while all other objects still exist.
class EventLoop : public asio::io_context {
 public:
  using asio::io_context::io_context;
  void destroy_handlers() { shutdown(); }
};

/// One per io thread. All members except `shared` are used on that thread only.
struct Worker {
  /// `thread`: number of the thread, from 0, in the request history and the span queues.
  Worker(Shared& shared, std::shared_ptr<const net::Snapshot> snapshot, std::uint64_t seed,
         std::size_t thread = 0);
  ~Worker();

  std::unique_ptr<Request> lend_request();
  void give_back(std::unique_ptr<Request>);
  /// Returns the current second as IMF-fixdate.
  std::string_view date();
  /// Applies a configuration snapshot. Requests that begin later use it.
  void apply(std::shared_ptr<const net::Snapshot>);
  /// Closes the connection of one departed or idle client. Returns false if there is no such client.
  bool make_room();
  /// Returns the dialer for a request that is pinned to that snapshot.
  net::Dialer dialer(const net::Snapshot&);
  /// Returns the latencies of the first attempts of that route on this thread. `route`: the number of the
  /// route in the metrics.
  policy::ObservedLatency& latency(std::size_t route);

  Shared& shared;
  std::shared_ptr<const net::Snapshot> snapshot;  ///< never null
  EventLoop io{1};
  net::Tick tick{io};
  policy::SeededDice dice;
  net::Pool pool;
  Sessions sessions;
  /// Clients between two requests. A client that has been idle for less than a second is not closed, because
  /// its next request may be on its way.
  IdleClients idle_clients{std::chrono::seconds(1)};
  /// Clients that have sent a FIN while a request or a tunnel is running. These clients are closed first to
  /// make room (row N6).
  IdleClients departed{Duration::zero()};
  net::ReserveDescriptor reserve;
  unsigned turning_away = 0;            ///< clients that are being sent a 503 and are not closed yet
  telemetry::ThreadHistory* histories;  ///< this thread's request history; null: not recorded
  telemetry::SpanQueue* spans;          ///< this thread's spans; null: never sent
  bool draining = false;
  /// A drain was requested: each response announces that it is the last one on its connection.
  bool leaving = false;

 private:
  net::SpareBlocks spare_blocks_{tick};
  std::vector<std::unique_ptr<Request>> idle_requests_;
  /// Latencies of each route; null until first used.
  std::vector<std::unique_ptr<policy::ObservedLatency>> latencies_;
  std::int64_t date_second_ = 0;
  std::string date_;
};

/// Starts a drain that can be undone: each connection ends after its current responses.
void leave(Worker&);
/// Shuts an io thread down: keeps no connection for a later request and starts draining every session.
void drain(Worker&);
/// Aborts every session at the end of the grace period.
void abort(Worker&);

}  // namespace reprise::forward
