// The rest of a request's body that no upstream wants any more, on a connection that shall go on.
#pragma once

#include "proxy/forward/replay/request_body.hpp"

namespace reprise::forward {

/// What became of a body that is thrown away.
enum class Discarded : std::uint8_t {
  whole,        ///< the next request may follow
  asked_again,  ///< its client sends the request again in the place of the body
  unfinished,   ///< the client left, or took too long
};

/// Reads it to its end and throws it away, for at most `linger_time`, each silence at most `linger_silence`
/// long. A client that has sent none of it yet may rest for `rest` before: it may have got its response in
/// place of a 100, and make up its mind (row N23).
///
/// curl 7.88 sends the next request in the place of the body that it has announced. Only the framing counts,
/// or a body could be made that passes for a request: where it begins like its own request, the connection is
/// to end, so that such a client asks again on another.
Task<Discarded> discard_body(const http::RequestHead&, RequestBody&, Duration rest);

}  // namespace reprise::forward
