// The values of a model that are more than a number: written in parts, with colons and commas between.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

/// Each puts the value into the target and returns nothing, or leaves it alone and returns why the text is
/// none: a sentence that goes on from the text.
/// `lognormal:50ms,0.5`, `exp:50ms`, `uniform:10ms,90ms`, `fixed:50ms` or `50ms`.
std::optional<std::string> read_latency(std::string_view text, Latency&);
std::optional<std::string> read_trouble(std::string_view text, Trouble&);
/// `10s+5s`, `10s+5s:refused`.
std::optional<std::string> read_outage(std::string_view text, Outage&);
/// `5%:503`.
std::optional<std::string> read_error(std::string_view text, ErrorShare&);
/// `50/s`, `50/s:retry-after=2s`.
std::optional<std::string> read_limit(std::string_view text, RateLimit&);
/// `20s+1000`.
std::optional<std::string> read_burst(std::string_view text, Burst&);
/// `GET 90%`, `POST http://orders.internal/v1/orders Idempotency-Key:1 10%`.
std::optional<std::string> read_kind(std::string_view text, RequestKind&);

}  // namespace reprise::tools
