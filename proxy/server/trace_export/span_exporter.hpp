// The thread that turns queued request histories into spans and posts them to a collector in batches.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "config/settings.hpp"
#include "proxy/net/resolve/resolver.hpp"
#include "proxy/policy/pacing/backoff.hpp"
#include "proxy/policy/pacing/dice.hpp"
#include "proxy/server/trace_export/collector_client.hpp"
#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"
#include "proxy/telemetry/tracing/otlp_json.hpp"
#include "proxy/telemetry/tracing/span_queue.hpp"

namespace reprise::server {

/// Time limits and number of tries of an exporter.
struct ExportTimes {
  Duration batch = std::chrono::seconds(1);  ///< longest time from the first request of a batch to the POST
  Duration post = std::chrono::seconds(10);  ///< time limit of one POST
  Duration last = std::chrono::seconds(1);   ///< time limit for all remaining spans at the shutdown
  unsigned tries = 5;                        ///< maximum number of POSTs of one batch
  policy::Backoff backoff{std::chrono::seconds(1), 2, std::chrono::seconds(15), policy::Jitter::equal};
};

/// All public functions may be called on any thread except the exporter's own, but not concurrently. Memory
/// is bounded: a batch of about 500 spans, and the queues. Spans that are not delivered are counted.
class SpanExporter {
 public:
  static constexpr std::size_t batch_spans = 512;

  /// `id_of`: returns the id of a request as text. All objects passed by reference must outlive the exporter,
  /// except the resolver, which is destroyed before it.
  SpanExporter(telemetry::SpanQueues&, net::Resolver&, telemetry::Metrics&, telemetry::Log&,
               const telemetry::TraceResource&, const std::function<std::string(std::uint64_t)>& id_of,
               std::uint64_t seed, ExportTimes times = {});
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  /// Sets the collector. Without a collector, queued spans are dropped. The first collector starts the
  /// thread. Throws std::system_error if no thread or descriptor is available.
  void send_to(const std::optional<config::Collector>&);
  /// Sends the remaining spans within `ExportTimes::last`, or drops them if `at_once`. Nothing is sent
  /// afterwards. Precondition: no io thread queues spans any more.
  void finish(bool at_once = false);

 private:
  class Loop;

  telemetry::SpanQueues& queues_;
  telemetry::Metrics& metrics_;
  std::mutex mutex_;
  std::optional<config::Collector> wanted_;  ///< guarded by the mutex
  std::atomic<std::uint64_t> changes_{0};    ///< number of changes of `wanted_`
  std::atomic<bool> finishing_{false};
  std::atomic<bool> at_once_{false};
  const std::function<std::unique_ptr<Loop>()> make_loop_;
  std::unique_ptr<Loop> loop_;  ///< null until there is a collector, because the loop needs descriptors
  std::thread thread_;          ///< runs `loop_`
};

}  // namespace reprise::server
