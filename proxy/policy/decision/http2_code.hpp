// The error codes of HTTP/2 (RFC 9113 7), each with its word in log and metrics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reprise::http {

/// A code that is not listed here may also arrive; RFC 9113 treats it like `internal_error`.
enum class Http2Code : std::uint32_t {
  no_error = 0,
  protocol_error = 1,
  internal_error = 2,
  flow_control_error = 3,
  settings_timeout = 4,
  stream_closed = 5,
  frame_size_error = 6,
  refused_stream = 7,
  cancel = 8,
  compression_error = 9,
  connect_error = 10,
  enhance_your_calm = 11,
  inadequate_security = 12,
  http_1_1_required = 13,
};

/// Number of words for codes: one for each code of the list, and `other`.
inline constexpr std::size_t http2_word_count = 15;

/// Returns the place of the code in the list; that of `other` for a code that is not listed.
constexpr std::size_t place_of(Http2Code code) {
  const auto number = static_cast<std::size_t>(code);
  return number < http2_word_count - 1 ? number : http2_word_count - 1;
}

/// Returns the word of the code, such as `refused_stream`; `other` for a code that is not listed.
std::string_view word(Http2Code);

}  // namespace reprise::http
