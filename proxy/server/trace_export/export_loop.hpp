// The work of the exporter's thread, as coroutines on its own event loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "proxy/server/trace_export/span_exporter.hpp"

namespace reprise::server {

/// The event loop of the exporter's thread. Until `run` has returned, only this thread may use the object.
class SpanExporter::Loop {
 public:
  Loop(SpanExporter&, net::Resolver&, telemetry::Log&, const telemetry::TraceResource&,
       std::function<std::string(std::uint64_t)> id_of, std::uint64_t seed, const ExportTimes&);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Exports spans until `finish` is called. Then sends the remaining spans within the time limit of the
  /// shutdown.
  void run();
  /// Drops and counts all remaining spans.
  void drop_all(telemetry::SpanDrop);

 private:
  class Io : public asio::io_context {
   public:
    using asio::io_context::io_context;
    void destroy_handlers() { shutdown(); }
  };

  Task<void> watch_bell();
  Task<void> work();
  Task<void> wait_for_requests();
  Task<void> deliver_all();
  Task<void> deliver();
  Task<Posted> post(const config::Collector&);
  Task<void> sleep_until(Instant);
  Task<void> pause(Duration);
  bool take_batch();
  void settle(const Posted&, const Decision&, const config::Collector&);
  void drop(telemetry::SpanDrop);
  void log_result(const Posted&, const Decision&, const config::Collector&);
  void log_message(config::LogLevel, const std::string&);
  std::optional<config::Collector> wanted();

  SpanExporter& all_;
  telemetry::Log& log_;
  const std::function<std::string(std::uint64_t)> id_of_;
  const ExportTimes times_;
  policy::SeededDice dice_;
  telemetry::OtlpJson json_;
  std::string_view body_;
  Io io_{1};
  net::Tick tick_{io_};
  net::Timer timer_{io_};  ///< timer that `work` waits on
  net::Timer last_{io_};   ///< time limit of the shutdown
  asio::posix::stream_descriptor bell_;
  CollectorClient client_;
  std::uint64_t in_hand_ = 0;  ///< spans of the current batch, neither delivered nor dropped
  std::size_t next_queue_ = 0;
  std::uint64_t seen_changes_ = 0;
  unsigned failures_ = 0;   ///< consecutive failures, over all batches
  Duration asked_pause_{};  ///< pause before the next POST to the collector
  Duration waited_{};
  std::string trouble_;  ///< kind of the last logged failure; empty if the collector accepts spans
};

}  // namespace reprise::server
