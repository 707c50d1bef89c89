// Parses model values that consist of several parts, separated by colons and commas.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

/// Each function parses the text and sets the target. If the text is invalid, it leaves the target unchanged
/// and returns the reason, which continues a sentence that begins with the text.
///
/// Parses `lognormal:50ms,0.5`, `exp:50ms`, `uniform:10ms,90ms`, `fixed:50ms` or `50ms`.
std::optional<std::string> read_latency(std::string_view text, Latency&);
std::optional<std::string> read_trouble(std::string_view text, Trouble&);
/// Parses `10s+5s` or `10s+5s:refused`.
std::optional<std::string> read_outage(std::string_view text, Outage&);
/// Parses `5%:503`.
std::optional<std::string> read_error(std::string_view text, ErrorShare&);
/// Parses `50/s` or `50/s:retry-after=2s`.
std::optional<std::string> read_limit(std::string_view text, RateLimit&);
/// Parses `20s+1000`.
std::optional<std::string> read_burst(std::string_view text, Burst&);
/// Parses `GET 90%` or `POST http://orders.internal/v1/orders Idempotency-Key:1 10%`.
std::optional<std::string> read_kind(std::string_view text, RequestKind&);

}  // namespace reprise::tools
