// Error codes for the ways in which an HTTP/2 stream can fail. They are used together with socket errors.
#pragma once

#include <cstdint>

#include "proxy/net/io/task.hpp"

namespace reprise::net {

enum class Http2Error : std::uint8_t {
  reset = 1,      ///< RST_STREAM with a code other than REFUSED_STREAM and HTTP_1_1_REQUIRED
  refused,        ///< RST_STREAM(REFUSED_STREAM)
  needs_http1,    ///< RST_STREAM or GOAWAY with HTTP_1_1_REQUIRED
  above_last_id,  ///< the upstream's GOAWAY excludes the stream, so the upstream will not process it
  malformed,      ///< the upstream violated RFC 9113
  no_room,        ///< the connection accepts no further stream; nothing was sent
  not_http2,      ///< the upstream does not speak HTTP/2
};

ErrorCode make_error_code(Http2Error);

}  // namespace reprise::net

template <>
struct boost::system::is_error_code_enum<reprise::net::Http2Error> : std::true_type {};
