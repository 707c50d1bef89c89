// The ends of an HTTP/2 stream as error codes, beside those of the socket.
#pragma once

#include <cstdint>

#include "proxy/http/http2/upstream_wire.hpp"
#include "proxy/net/io/task.hpp"

namespace reprise::net {

enum class Http2Error : std::uint8_t {
  reset = 1,      ///< RST_STREAM with any code but the two below
  refused,        ///< RST_STREAM(REFUSED_STREAM)
  needs_http1,    ///< RST_STREAM or GOAWAY with HTTP_1_1_REQUIRED
  above_last_id,  ///< GOAWAY: the upstream does not process the stream
  malformed,      ///< the upstream violated RFC 9113
  no_room,        ///< the connection accepts no further stream; nothing was sent
};

ErrorCode make_error_code(Http2Error);

/// Returns the error with which operations on a stream end. `eof` if the connection ended.
ErrorCode error_of(const http::Http2Failure&);

}  // namespace reprise::net

template <>
struct boost::system::is_error_code_enum<reprise::net::Http2Error> : std::true_type {};
