// The lines of the log as text for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::telemetry {

/// The destination of the log's lines. With the format `auto`, a terminal gets text and any other destination
/// gets JSON. For the journal, every line begins with a priority. Lines of text for the journal have no time,
/// because the journal itself records the time of each line.
enum class LogReader : std::uint8_t { stream, terminal, journal };

/// Appends the access line with its newline. The line has the local time, unless the journal reads it. Values
/// are escaped and cut as in a JSON line, and the same attempts are left out.
void write_text_line(const ExchangeRecord&, std::string_view route, config::LogPath, LogReader,
                     std::string& out);
/// Appends the error record of an exhausted exchange (clause R24). Precondition: the ledger is not empty.
void write_exhausted_text(const ExchangeRecord&, std::string_view route, config::LogPath, LogReader,
                          std::string& out);
void write_text_message(config::LogLevel, std::string_view text, std::int64_t wall, LogReader,
                        std::string& out);

}  // namespace reprise::telemetry
