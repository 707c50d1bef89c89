// Coverage marks of stories whose upstreams speak HTTP/2.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::simulation {

/// Each enumerator has one row in the table of coverage marks.
enum class Http2Mark : std::uint8_t {
  stream,
  stream_beside_another,  // a stream begins while another is open
  stream_limit_met,       // a stream is the last one that MAX_CONCURRENT_STREAMS allows
  sent_again_after_refusal,
  sent_again_after_goaway,
  sent_over_http1,          // the upstream requires HTTP/1, and gets a request over HTTP/1
  stream_window_closed,     // a response waits for a window of its stream
  connection_window_moved,  // the proxy gives back a part of a connection's window
  several_streams_lost,     // a connection ends while several streams are open
  trailers,
};

using Http2Counts = std::array<std::uint64_t, policy::count_of<Http2Mark>>;

}  // namespace reprise::simulation
