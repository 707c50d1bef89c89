// What the exporter's thread does, as coroutines on a loop of its own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "proxy/server/trace_export/span_exporter.hpp"

namespace reprise::server {

/// Used by its own thread, until `run` has returned.
class SpanExporter::Loop {
 public:
  Loop(SpanExporter&, net::Resolver&, telemetry::Log&, const telemetry::TraceResource&,
       std::function<std::string(std::uint64_t)> id_of, std::uint64_t seed, const ExportTimes&);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Until the exporter is to finish, and then for as long as there is something to send and time for it.
  void run();
  /// Counts whatever is left.
  void drop_all(telemetry::SpanDrop);

 private:
  class Io : public asio::io_context {
   public:
    using asio::io_context::io_context;
    void destroy_handlers() { shutdown(); }
  };

  Task<void> listen();
  Task<void> work();
  Task<void> wait_for_stories();
  Task<void> deliver_all();
  Task<void> deliver();
  Task<Posted> post(const config::Collector&);
  Task<void> sleep_until(Instant);
  Task<void> pause(Duration);
  bool take_batch();
  void settle(const Posted&, const Decision&, const config::Collector&);
  void drop(telemetry::SpanDrop);
  void tell(const Posted&, const Decision&, const config::Collector&);
  void say(config::LogLevel, const std::string&);
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
  net::Timer timer_{io_};  ///< what `work` waits for
  net::Timer last_{io_};   ///< the end of all
  asio::posix::stream_descriptor bell_;
  CollectorClient client_;
  std::uint64_t in_hand_ = 0;  ///< spans of the batch that is neither delivered nor dropped
  std::size_t next_queue_ = 0;
  std::uint64_t seen_changes_ = 0;
  unsigned failures_ = 0;   ///< in a row, of whatever batch
  Duration asked_pause_{};  ///< by the last one
  Duration waited_{};
  std::string trouble_;  ///< what was said last of a collector that does not take spans; empty: it does
};

}  // namespace reprise::server
