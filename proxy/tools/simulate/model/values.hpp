// Parses model values that consist of several parts, separated by colons and commas. If the text is invalid,
// each function leaves its target unchanged and returns the reason, such as `is not a burst`, which the
// caller writes after the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {

/// Parses a distribution of latencies: lognormal (`lognormal:50ms,0.5`), exponential (`exp:50ms`), uniform
/// (`uniform:10ms,90ms`) or fixed (`fixed:50ms` or `50ms`).
std::optional<std::string> read_latency(std::string_view text, Latency&);
std::optional<std::string> read_trouble(std::string_view text, Trouble&);
/// Parses an outage: `10s+5s` begins at 10 s and lasts 5 s; `10s+5s:refused` also names how attempts fail.
std::optional<std::string> read_outage(std::string_view text, Outage&);
/// Parses the fraction of attempts that fail and, after a colon, how they fail, for example `5%:503`.
std::optional<std::string> read_error(std::string_view text, ErrorShare&);
/// Parses a rate limit with an optional hint for clients, for example `50/s` or `50/s:retry-after=2s`.
std::optional<std::string> read_limit(std::string_view text, RateLimit&);
/// Parses a burst: `20s+1000` adds 1000 requests at 20 s.
std::optional<std::string> read_burst(std::string_view text, Burst&);
/// Parses a kind of request (method, URL, fields) and its share of all requests, for example `GET 90%` or
/// `POST http://orders.internal/v1/orders Idempotency-Key:1 10%`. `GRPC shop.Catalog/GetItem 10%` is a gRPC
/// call; it may have a URL, too.
std::optional<std::string> read_kind(std::string_view text, RequestKind&);

}  // namespace reprise::tools
