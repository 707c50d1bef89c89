#include "proxy/server/trace_export/span_exporter.hpp"

#include <utility>

#include "proxy/server/trace_export/export_loop.hpp"

namespace reprise::server {

SpanExporter::SpanExporter(telemetry::SpanQueues& queues, net::Resolver& resolver,
                           telemetry::Metrics& metrics, telemetry::Log& log,
                           const telemetry::TraceResource& resource,
                           const std::function<std::string(std::uint64_t)>& id_of, std::uint64_t seed,
                           ExportTimes times)
    : queues_(queues), metrics_(metrics), make_loop_([=, this, &resolver, &log] {
        return std::make_unique<Loop>(*this, resolver, log, resource, id_of, seed, times);
      }) {}

SpanExporter::~SpanExporter() { finish(true); }

void SpanExporter::send_to(const std::optional<config::Collector>& collector) {
  if (finishing_) return;
  if (loop_ == nullptr && collector) {
    auto loop = make_loop_();
    thread_ = std::thread([made = loop.get()] { made->run(); });
    loop_ = std::move(loop);
  }
  {
    const std::lock_guard lock(mutex_);
    if (wanted_ == collector) return;
    wanted_ = collector;
  }
  ++changes_;
  queues_.bell().call();
}

void SpanExporter::finish(bool at_once) {
  at_once_ = at_once_ || at_once;
  finishing_ = true;
  queues_.bell().call();
  if (!thread_.joinable()) return;
  thread_.join();
  loop_->drop_all(telemetry::SpanDrop::shutting_down);
}

}  // namespace reprise::server
