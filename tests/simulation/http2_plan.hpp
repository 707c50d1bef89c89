// How an upstream that speaks HTTP/2 behaves, drawn from the seed: on one connection, and on one stream.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/policy/decision/http2_code.hpp"
#include "tests/simulation/response_plan.hpp"

namespace reprise::simulation {

/// Largest payload of a frame.
inline constexpr std::size_t most_frame_bytes = 16'384;

/// An error code that RFC 9113 7 does not list.
inline constexpr policy::Http2Code unknown_code{0x7777};

/// A part of a response, without its stream number: one header block, or bytes of the body.
struct ResponsePart {
  enum class Kind : std::uint8_t { interim, head, body, trailers };
  Kind kind = Kind::body;
  std::string bytes;  ///< encoded header block, or bytes of the body
  bool ends = false;  ///< END_STREAM is set on the last frame of the part
};

/// What an upstream does instead of the next part of a response.
enum class Stop : std::uint8_t {
  none,
  reset_stream,
  finish_connection,
  reset_connection,
  fall_silent,
  violate
};

/// The response on one stream.
struct StreamPlan : ResponseFacts {
  std::vector<ResponsePart> parts;
  bool counted = false;                    ///< the head states the right length of the body
  bool too_long = false;                   ///< DATA follows the bytes that the head states
  std::size_t stops_at = ~std::size_t{0};  ///< number of parts after which `stop` happens
  Stop stop = Stop::none;
  policy::Http2Code code = policy::Http2Code::no_error;  ///< for Stop::reset_stream
  bool cuts_frame = false;  ///< a part of the next frame is sent before the connection ends
};

/// When an upstream announces that its connection goes away. `last` is the last stream that it processes.
enum class Leaves : std::uint8_t {
  at_once,          ///< right after the SETTINGS
  at_last_head,     ///< when the head of `last` has arrived
  at_next_head,     ///< when the head of the stream after `last` has arrived: before its DATA
  at_next_request,  ///< when the whole request after `last` has arrived
  after_last,       ///< after the response of `last`
  at_some_frame,    ///< after some frames of responses
};

struct GoawayPlan {
  Leaves when = Leaves::after_last;
  unsigned accepts = 0;    ///< number of streams that are processed
  unsigned frames = 0;     ///< for Leaves::at_some_frame
  bool announces = false;  ///< a GOAWAY with the highest stream number comes first
  Duration announced_for{};
  policy::Http2Code code = policy::Http2Code::no_error;
  /// How long after the last response the connection closes. Absent: the connection stays open.
  std::optional<Duration> closes_after;
};

/// How one connection behaves, apart from its responses.
struct ConnectionPlan {
  bool is_not_http2 = false;                   ///< responds to the preface with HTTP/1
  bool never_ready = false;                    ///< sends no SETTINGS
  Duration ready_after{};                      ///< wait before the SETTINGS
  std::uint32_t window = 65'535;               ///< INITIAL_WINDOW_SIZE for the streams of the proxy
  std::optional<std::uint32_t> streams;        ///< MAX_CONCURRENT_STREAMS
  std::optional<std::uint32_t> later_streams;  ///< the limit that a second SETTINGS sets
  Duration later{};                            ///< when the second SETTINGS is sent
  std::optional<GoawayPlan> goaway;
};

ConnectionPlan plan_connection(Seed seed, Faults& faults, std::uint64_t number);

/// Draws the response to one arrival. `trusts`: the route takes REFUSED_STREAM as proof that the upstream did
/// nothing, so such an upstream does nothing.
StreamPlan plan_stream(Seed seed, Faults& faults, const Account& account, unsigned arrival,
                       const std::optional<RangeRequest>& range, bool reused, bool trusts);

/// Returns frames that carry one header block: HEADERS, and CONTINUATION if the block is long or `splits` is
/// not 0. `splits`: number of bytes in each frame.
std::string block_frames(std::int32_t stream, std::string_view block, bool ends, std::size_t splits);

}  // namespace reprise::simulation
