// Writes the lines of the log as JSON, with the field names of either Dialect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/telemetry/log/access_fields.hpp"
#include "proxy/telemetry/log/exchange_record.hpp"
#include "proxy/telemetry/log/line.hpp"

namespace reprise::telemetry {

/// Appends the access line with its newline. Every value that a client or an upstream chose is escaped and
/// cut at 256 bytes (row H8). If there are more than 32 attempts, the first 24 and the last 8 are shown.
void write_json_line(const ExchangeRecord&, std::string_view route, config::LogPath, Line& out,
                     Dialect = Dialect::own);
/// Appends the error record of an exhausted exchange (clause R24). Precondition: the ledger is not empty.
void write_exhausted_json(const ExchangeRecord&, std::string_view route, config::LogPath, Dialect,
                          std::string& out);
void write_json_message(config::LogLevel, std::string_view text, std::int64_t wall, Dialect,
                        std::string& out);

}  // namespace reprise::telemetry
