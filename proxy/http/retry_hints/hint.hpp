// Reads retry hints from a response head: Retry-After and similar fields.
#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::http {

/// Longest pause of a hint. Larger numbers are read as this value, as RFC 9111 1.2.2 prescribes for
/// delta-seconds.
inline constexpr policy::Duration longest_pause = std::chrono::seconds(std::int64_t{1} << 31);

/// Returns the hints of a response. Zero, malformed values, negative numbers and times in the past are not
/// hints. The longest pause of all fields wins. No pause is longer than `longest_pause`.
///
/// | field | read as |
/// |---|---|
/// | Retry-After (RFC 9110 10.2.3) | seconds, may have a fraction, or a date in one of the three forms |
/// | retry-after-ms, x-ms-retry-after-ms | decimal milliseconds, may have a fraction |
/// | x-ratelimit-reset | see below |
/// | x-ratelimit-reset-after | seconds, may have a fraction; only on a 429 |
/// | RateLimit (draft-ietf-httpapi-ratelimit-headers) | see below |
/// | x-amz-retry-after | whole milliseconds; kept apart, because the policy bounds it by the backoff |
/// | x-should-retry, stripe-should-retry | `false`: no retry; `true` adds nothing (`retry.on` decides) |
/// | grpc-retry-pushback-ms (gRPC A6) | as `read_pushback` says; negative or malformed: no retry |
///
/// x-ratelimit-reset and RateLimit count only on a 429 or a 503. On other statuses they describe a quota, not
/// a refusal.
///
/// x-ratelimit-reset is in seconds. A value above 10^9 is a time in Unix seconds, above 10^11 in Unix
/// milliseconds. It may also be `6m0s` with the units h, m, s, ms. It is ignored if x-ratelimit-remaining is
/// above 0.
///
/// RateLimit is `limit=9, remaining=0, reset=30` (drafts up to 07) or `"name";r=0;t=30` (later). A policy
/// counts only if its remaining quota is 0.
///
/// Dates and Unix times count from the response's own Date, or from `now_unix` if it has none.
policy::Hints read_hints(const ResponseHead&, std::int64_t now_unix);

/// Returns the first hint field with a malformed value. Null if there is none. Such a hint is ignored, and
/// the backoff applies.
const FieldLine* hint_not_understood(const ResponseHead&, std::int64_t now_unix);

}  // namespace reprise::http
