#include "proxy/net/streams/count_codes.hpp"

namespace reprise::net {

void count_codes(telemetry::Metrics& metrics, telemetry::Http2Side side, Http2Connection& connection) {
  const auto received = connection.take_codes();
  if (!received) return;
  for (std::size_t i = 0; i < policy::count_of<policy::Http2Code>; ++i) {
    const auto code = static_cast<policy::Http2Code>(i);
    metrics.count_http2_goaways(side, code, received->goaways[i]);
    metrics.count_http2_resets(side, code, received->resets[i]);
  }
}

}  // namespace reprise::net
