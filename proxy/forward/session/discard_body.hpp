// Discards the rest of a request body that no upstream needs, so that the connection can be kept.
#pragma once

#include "proxy/forward/replay/request_body.hpp"

namespace reprise::forward {

/// The result of discarding a body.
enum class Discarded : std::uint8_t {
  whole,        ///< the body has ended; the next request may follow
  asked_again,  ///< the client sent its request again instead of the body
  unfinished,   ///< the client left or took too long
};

/// Reads the body to its end and discards it, for at most `linger_time`, with pauses of at most
/// `linger_idle`. If the client has sent no byte of the body yet, the first byte may take as long as
/// `first_byte_limit`: the client may have received a final response instead of a 100, and may still be
/// deciding whether to send the body (row N23).
///
/// Returns `asked_again` if the body begins like the request itself: curl 7.88 sends its next request in
/// place of the announced body. The connection must then end, so that the client retries on another
/// connection. These bytes are never served as a request, because the announced framing says that they belong
/// to the body.
Task<Discarded> discard_body(const http::RequestHead&, RequestBody&, Duration first_byte_limit);

}  // namespace reprise::forward
