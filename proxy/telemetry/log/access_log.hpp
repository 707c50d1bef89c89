// The log: one line per finished request, and messages. A thread of its own writes the lines, so that a
// blocked descriptor loses lines but never delays a caller.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"
#include "proxy/telemetry/log/growing_list.hpp"
#include "proxy/telemetry/log/text_line.hpp"

namespace reprise::telemetry {

/// The form of a line: text for people, or JSON in one of the dialects.
enum class LineForm : std::uint8_t { text, json, otel };

/// The whole log: access lines and messages. Thread-safe.
class Log {
 public:
  /// Writes to `descriptor` (2 for stderr). `routes`: route names in table order.
  Log(const config::Log&, const std::vector<std::string>& routes, int descriptor, LogReader);
  /// Writes the queued lines, for at most one second.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Applies these settings to all later lines.
  void set(const config::Log&);
  config::Log settings() const {
    return std::bit_cast<config::Log>(settings_.load(std::memory_order_relaxed));
  }
  /// Gives a name to a route number. From then on, `ExchangeRecord::route` may have this number. Ignored if
  /// the number already has a name. Precondition: `number` is at most the count of names so far. Only one
  /// thread at a time may call it.
  void name_route(std::size_t number, std::string_view name);
  /// Returns the name of a route number. Precondition: the number has a name.
  const std::string& route_name(std::size_t number) const { return routes_[number]; }
  /// Writes one access line, unless the setting `access` is off or the configured level excludes `info`. If a
  /// limit ended the exchange, also writes one `error` record (clause R24).
  void access(const ExchangeRecord&);
  /// Writes a message, unless its level is below the configured level. Escapes control characters and bad
  /// UTF-8. If the text contains anything that a client sent, the caller must first remove everything else
  /// that could do harm.
  void message(config::LogLevel, std::string_view text, std::int64_t wall);
  /// Returns how many lines were dropped, because the queue (1 MiB) was full or the write failed.
  std::uint64_t dropped() const;

 private:
  struct Writer;
  LineForm form(config::LogFormat) const;
  void open_line(config::LogLevel, std::string& out) const;

  std::atomic<std::uint32_t> settings_;  ///< settings of the log (a config::Log), packed into 32 bits
  GrowingList<const std::string> routes_;
  const LogReader reader_;
  std::unique_ptr<Writer> writer_;
};

/// Writes the error record of an exhausted exchange: method, URL without query, attempts, elapsed time, last
/// status or failure, and the limit that ended the exchange.
void write_exhausted_line(const ExchangeRecord&, std::string_view route, config::LogPath, LineForm, LogReader,
                          std::string& out);

}  // namespace reprise::telemetry
