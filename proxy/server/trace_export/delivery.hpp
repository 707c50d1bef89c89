// Decides what to do with a batch of spans after it was posted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proxy/net/io/clock.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::server {

/// Result of one POST.
struct Posted {
  enum class End : std::uint8_t {
    responded,
    unresolved,   // the collector's name has no address
    unconnected,  // no address of the collector accepted a connection
    unproved,     // TLS failed or the certificate does not verify; `body` says why
    timed_out,    // no complete response head in time
    broken,       // the connection ended before the response head
    malformed,    // the bytes are not an HTTP/1.1 response
    cancelled,    // cancelled by this proxy
  };
  End end = End::broken;
  int status = 0;
  std::optional<Duration> retry_after{};  ///< Retry-After of the response; above 0
  std::string body{};                     ///< at most the first 64 KiB
};

struct Decision {
  enum class Kind : std::uint8_t { taken, again, dropped };
  Kind kind = Kind::taken;
  telemetry::SpanDrop cause = telemetry::SpanDrop::unreachable;  ///< only for `dropped`
  std::uint64_t rejected = 0;  ///< only for `taken`: number of spans that the collector rejected
};

/// Decides what to do with the batch by OTLP 1.3 (OTLP/HTTP Response):
/// - 2xx: the batch is accepted, except for the spans that partialSuccess rejects;
/// - 429, 502, 503, 504 and failures without a response: the batch is posted again;
/// - everything else is final.
/// `tries`: number of posts so far, including the latest. `most`: number of posts after which the batch is
/// dropped. `spans`: number of spans in the batch.
Decision decide(const Posted&, unsigned tries, unsigned most, std::uint64_t spans);

/// Returns true if the failure may be temporary.
bool is_temporary(const Posted&);

/// Describes the result in a few words for the log, such as `the collector responded with status 400: unknown
/// field`. The collector's text is clipped here and escaped by the log.
std::string words_of(const Posted&);

}  // namespace reprise::server
