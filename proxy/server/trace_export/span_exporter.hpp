// The thread that turns queued stories into spans and posts them to a collector, batch by batch.
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

/// How long an exporter waits for what, and how often it tries.
struct ExportTimes {
  Duration batch =
      std::chrono::seconds(1);  ///< from a batch's first story to its POST, while there is room for more
  Duration post = std::chrono::seconds(10);  ///< for one POST
  Duration last = std::chrono::seconds(1);   ///< for all that is left at the end
  unsigned tries = 5;                        ///< of one batch
  policy::Backoff backoff{std::chrono::seconds(1), 2, std::chrono::seconds(15), policy::Jitter::equal};
};

/// Its public functions are called on any thread but its own, one at a time. What it posts is bounded: a
/// batch of some 500 spans, and the queues. Whatever is not delivered is counted.
class SpanExporter {
 public:
  static constexpr std::size_t batch_spans = 512;

  /// `id_of`: a story's id as text. All that is passed by
  /// reference outlives it; the resolver goes before it does.
  SpanExporter(telemetry::SpanQueues&, net::Resolver&, telemetry::Metrics&, telemetry::Log&,
               const telemetry::TraceResource&, const std::function<std::string(std::uint64_t)>& id_of,
               std::uint64_t seed, ExportTimes times = {});
  ~SpanExporter();
  SpanExporter(const SpanExporter&) = delete;
  SpanExporter& operator=(const SpanExporter&) = delete;

  /// From now on there; nothing: what is queued is dropped. The first collector starts the thread; throws
  /// std::system_error where there is none to be had, or no descriptor.
  void send_to(const std::optional<config::Collector>&);
  /// Sends what is left, for as long as `ExportTimes::last`, or at once drops it. Afterwards nothing is sent.
  /// Called when no io thread queues any more.
  void finish(bool at_once = false);

 private:
  class Loop;

  telemetry::SpanQueues& queues_;
  telemetry::Metrics& metrics_;
  std::mutex mutex_;
  std::optional<config::Collector> wanted_;  ///< under the mutex
  std::atomic<std::uint64_t> changes_{0};    ///< of `wanted_`
  std::atomic<bool> finishing_{false};
  std::atomic<bool> at_once_{false};
  const std::function<std::unique_ptr<Loop>()> make_loop_;
  std::unique_ptr<Loop> loop_;  ///< null until there is a collector: it costs descriptors
  std::thread thread_;          ///< runs it
};

}  // namespace reprise::server
