// What the whole process shares: its loops, its tables, its log and its numbers.
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

/// How far the process is in its life. Any thread may read it.
struct Phase {
  std::atomic<bool> ready{false};     ///< from the start of the listeners to the shutdown, drained or not
  std::atomic<bool> leaving{false};   ///< asks to be left: a drain, which can be undone
  std::atomic<bool> stopping{false};  ///< shuts down
  std::atomic<bool> hurried{false};   ///< nobody is waited for any more
  std::atomic<bool> ended{false};     ///< the loops: nothing that is posted to them is done

  bool is_ready() const { return ready && !leaving; }
  bool is_draining() const { return stopping || leaving; }
};

/// Made before everything else of a process, and gone last. Nothing runs before Proxy::run.
class Runtime {
 public:
  /// Says the warnings and notes of the options.
  Runtime(const config::Settings&, ProxyOptions);
  /// No job of another thread reads a part that is gone, or comes back to a loop that is.
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// One for each thread, with its loop. Called once, when the first snapshot is made.
  void make_workers(unsigned threads, const std::shared_ptr<const net::Snapshot>&);
  void say(config::LogLevel level, std::string_view text) {
    log.message(level, text, net::Clock::wall_nanoseconds());
  }
  /// No job is on the page thread any more, and none will be.
  void end_page_thread();

  const ProxyOptions options;
  Phase phase;
  telemetry::Metrics metrics;
  telemetry::Log log;
  net::BudgetTable budgets;
  net::HostGuards host_guards;
  forward::ReplayStore replay;
  std::optional<telemetry::Stories> stories;  ///< absent: none are kept
  std::unique_ptr<forward::Shared> shared;
  std::vector<std::unique_ptr<forward::Worker>> workers;
  telemetry::SpanQueues spans;
  std::unique_ptr<SpanExporter> exporter;   ///< on a thread of its own, once there is a collector
  std::unique_ptr<net::NameService> names;  ///< null where the options say how names are looked up
  std::unique_ptr<net::Resolver> resolver;  ///< goes before the loops that its waiters run on
  asio::thread_pool page_thread{1};
  const std::int64_t started_unix = net::Clock::wall_nanoseconds() / 1'000'000'000;
  const Instant started = net::Tick::now();

 private:
  telemetry::TraceResource resource() const;
};

}  // namespace reprise::server
