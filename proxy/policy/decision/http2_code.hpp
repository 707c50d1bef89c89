// The error codes of HTTP/2 (RFC 9113 7), each with its word in log and metrics.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::policy {

/// The values are those on the wire. A value that is not listed may arrive too: `listed` makes it `other`.
/// RFC 9113 treats such a code like `internal_error`.
enum class Http2Code : std::uint32_t {
  no_error,
  protocol_error,
  internal_error,
  flow_control_error,
  settings_timeout,
  stream_closed,
  frame_size_error,
  refused_stream,
  cancel,
  compression_error,
  connect_error,
  enhance_your_calm,
  inadequate_security,
  http_1_1_required,
  other,
};
static_assert(static_cast<std::uint32_t>(Http2Code::http_1_1_required) == 13);

/// Returns the code itself, or `other` if it is not listed.
constexpr Http2Code listed(Http2Code code) { return std::min(code, Http2Code::other); }

/// Returns the word of the code: the enumerator's name.
constexpr std::string_view word(Http2Code code) {
  return names_of<Http2Code>[static_cast<std::size_t>(listed(code))];
}

/// What a client has sent too much of, so that its HTTP/2 connection was ended: the label of
/// `reprise_http2_floods_total{kind}`.
enum class Http2Flood : std::uint8_t {
  resets,        // streams that were reset by either side, or refused (row M92)
  empty_frames,  // frames that move no data (row M93)
  unread_acks,   // acknowledgements that the client does not read (row M94)
  header_block,  // frames or bytes of one header block (row M95)
};

}  // namespace reprise::policy
