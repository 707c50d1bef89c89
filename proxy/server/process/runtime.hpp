// The objects that the whole process shares: event loops, tables, log and metrics.
#pragma once

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/forward/worker/worker.hpp"
#include "proxy/net/resolve/name_service.hpp"
#include "proxy/server/process/proxy.hpp"
#include "proxy/server/trace_export/span_exporter.hpp"

namespace reprise::server {

/// Phase of the process's life. Any thread may read it.
struct Phase {
  std::atomic<bool> ready{false};     ///< true from listening to shutdown, even while draining
  std::atomic<bool> leaving{false};   ///< true while draining; a drain can be undone
  std::atomic<bool> stopping{false};  ///< shutting down
  std::atomic<bool> forced{false};    ///< a second signal has come: do not wait for requests any more
  std::atomic<bool> ended{false};  ///< the event loops have ended: jobs that are posted to them are not run

  bool is_ready() const { return ready && !leaving; }
  bool is_draining() const { return stopping || leaving; }
};

/// Created before all other parts of the process, destroyed last. The event loops run only in Proxy::run.
class Runtime {
 public:
  /// Logs the warnings and notes of the options.
  Runtime(const config::Settings&, ProxyOptions);
  /// Stops all other threads first, so that no job uses a destroyed part or posts to a destroyed loop.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// Creates one worker for each io thread; each worker has its own event loop. Called once, when the first
  /// snapshot exists.
  void make_workers(unsigned threads, const std::shared_ptr<const net::Snapshot>&);
  void log_message(config::LogLevel level, std::string_view text) {
    log.message(level, text, net::Clock::wall_nanoseconds());
  }
  /// Ends the page thread and waits for its end. No job runs on it afterwards.
  void end_page_thread();

  const ProxyOptions options;
  Phase phase;
  telemetry::Metrics metrics;
  telemetry::Log log;
  net::BudgetTable budgets;
  net::HostGuards host_guards;
  forward::ReplayStore replay;
  http::StreamMemory stream_memory;
  std::optional<telemetry::RequestHistory> histories;  ///< request histories; absent if none are kept
  std::unique_ptr<forward::Shared> shared;
  std::vector<std::unique_ptr<forward::Worker>> workers;
  telemetry::SpanQueues spans;
  std::unique_ptr<SpanExporter> exporter;   ///< runs on its own thread once there is a collector
  std::unique_ptr<net::NameService> names;  ///< null if the options provide the query function
  std::unique_ptr<net::Resolver> resolver;  ///< destroyed before the loops that its waiting lookups run on
  asio::thread_pool page_thread{1};
  const std::int64_t started_unix = net::Clock::wall_nanoseconds() / 1'000'000'000;
  const Instant started = net::Tick::now();

 private:
  telemetry::TraceResource resource() const;
};

}  // namespace reprise::server
