// Counts the frames with an error code that the peer of an HTTP/2 connection has sent.
#pragma once

#include "proxy/net/streams/http2_connection.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::net {

/// Counts the frames that have arrived since the last call. `side`: what the peer is.
void count_codes(telemetry::Metrics&, telemetry::Http2Side side, Http2Connection&);

}  // namespace reprise::net
