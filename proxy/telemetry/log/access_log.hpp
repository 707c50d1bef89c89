// One line per finished request, handed to a writer thread through a bounded queue: a blocked stderr costs
// lines, never the loop.
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
  /// Writes to `descriptor` (2 for stderr). `routes`: names in table order.
  Log(const config::Log&, const std::vector<std::string>& routes, int descriptor, LogReader);
  /// Writes what is queued, for at most a second.
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// What is written from now on, and how.
  void set(const config::Log&);
  config::Log settings() const {
    return std::bit_cast<config::Log>(settings_.load(std::memory_order_relaxed));
  }
  /// From now on `ExchangeRecord::route` may be that number, which is as far as the names so far or one
  /// further. One thread at a time.
  void name_route(std::size_t number, std::string_view name);
  /// Of a number that has been named.
  const std::string& route_name(std::size_t number) const { return routes_[number]; }
  /// One access line (nothing if `access` is off or the level is above `info`), and, where the exchange was
  /// exhausted, one `error` record (clause R24).
  void access(const ExchangeRecord&);
  /// A message; dropped below the configured level. Control characters and bad UTF-8 are escaped here;
  /// whatever else a client could have put into it is the caller's to leave out.
  void message(config::LogLevel, std::string_view text, std::int64_t wall);
  /// Lines dropped because the queue (1 MiB) was full.
  std::uint64_t dropped() const;

 private:
  struct Writer;
  LineForm form(config::LogFormat) const;
  void open_line(config::LogLevel, std::string& out) const;

  std::atomic<std::uint32_t> settings_;  ///< the bytes of a config::Log
  GrowingList<const std::string> routes_;
  const LogReader reader_;
  std::unique_ptr<Writer> writer_;
};

/// The error record of an exhausted exchange: method, URL without query, attempts, elapsed, last status or
/// failure, the limit.
void write_exhausted_line(const ExchangeRecord&, std::string_view route, config::LogPath, LineForm, LogReader,
                          std::string& out);

}  // namespace reprise::telemetry
