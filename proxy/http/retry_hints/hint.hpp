// What a response's head says about when to come back, or not to: Retry-After and its kin.
#pragma once

#include <cstdint>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::http {

/// The hints of a response. 0, junk, negative numbers and times in the past are no hint; the longest pause of
/// all fields wins; no pause is longer than 2^31 s, which stands for all numbers too large.
///
/// | field | read as |
/// |---|---|
/// | Retry-After (RFC 9110 10.2.3) | seconds, may have a fraction, or a date in one of the three forms |
/// | retry-after-ms, x-ms-retry-after-ms | decimal milliseconds, may have a fraction |
/// | x-ratelimit-reset | see below |
/// | x-ratelimit-reset-after | seconds, may have a fraction; only on a 429 |
/// | RateLimit (draft-ietf-httpapi-ratelimit-headers) | see below |
/// | x-amz-retry-after | whole milliseconds; kept apart, because the policy bounds it by the backoff |
/// | x-should-retry, stripe-should-retry | `false`: said no; `true` adds nothing (`retry.on` decides) |
/// | grpc-retry-pushback-ms (gRPC A6) | 32-bit milliseconds; negative or junk: said no |
///
/// x-ratelimit-reset and RateLimit count only on a 429 or a 503: elsewhere they describe a quota, not a
/// refusal. x-ratelimit-reset is seconds; a time in Unix seconds above 10^9, in Unix milliseconds above
/// 10^11; or `6m0s` with the units h, m, s, ms. It is ignored where x-ratelimit-remaining says that quota is
/// left. RateLimit is `limit=9, remaining=0, reset=30` (drafts up to 07) or `"name";r=0;t=30` (later); a
/// policy counts only where nothing remains of it.
///
/// Dates and Unix times count from the response's own Date, from `now_unix` where it has none.
policy::Hints read_hints(const ResponseHead&, std::int64_t now_unix);

/// The first field that would ask for a pause, or speak of a retry, and whose value is neither a number nor a
/// date nor a word that counts there: the backoff applies. Null if there is none.
const FieldLine* hint_not_understood(const ResponseHead&, std::int64_t now_unix);

}  // namespace reprise::http
