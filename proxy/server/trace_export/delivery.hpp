// What becomes of a batch of spans once it has been posted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proxy/net/io/clock.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::server {

/// What one POST came to.
struct Posted {
  enum class End : std::uint8_t {
    answered,
    unresolved,   // the name has no address
    unconnected,  // no address of it was reached
    unproved,     // TLS failed, or its certificate does not verify; `body` says why
    timed_out,    // no whole response head in time
    broken,       // the connection ended before it
    malformed,    // what came is no HTTP/1.1 response
    cancelled,    // by us
  };
  End end = End::broken;
  int status = 0;
  std::optional<Duration> retry_after{};  ///< above 0
  std::string body{};                     ///< the first 64 KiB at most
};

struct Decision {
  enum class Kind : std::uint8_t { taken, again, dropped };
  Kind kind = Kind::taken;
  telemetry::SpanDrop cause = telemetry::SpanDrop::unreachable;  ///< of `dropped`
  std::uint64_t rejected = 0;                                    ///< of `taken`: so many spans were not
};

/// OTLP 1.3, OTLP/HTTP Response: 2xx is taken, but for what its partialSuccess rejects; 429, 502, 503 and 504
/// are tried again, like whatever ended without a response; everything else is final. `tries`: this one
/// included; `most`: then it is dropped; `spans`: in the batch.
Decision decide(const Posted&, unsigned tries, unsigned most, std::uint64_t spans);

/// True for what may be otherwise in a while.
bool is_passing(const Posted&);

/// For the log, in a few words: `refused the connection`, `gave status 400: unknown field`. What the
/// collector said is clipped, and escaped by the log.
std::string words_of(const Posted&);

}  // namespace reprise::server
