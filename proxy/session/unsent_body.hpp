// The rest of a request's body that no upstream wants any more, on a connection that shall go on.
#pragma once

#include "proxy/message/request.hpp"

namespace reprise::net {

/// Reads it to its end and throws it away, for at most `linger_time`, each silence at most `linger_silence`
/// long. A client that has sent none of it yet may rest for `rest` before: it may have got its response in
/// place of a 100, and make up its mind (row N23). True if the next request may follow.
///
/// curl 7.88 sends the next request in the place of the body that it has announced. Only the framing counts,
/// or a body could be made that passes for a request: one that begins like its own request ends the
/// connection at once, so that such a client asks again on another.
Task<bool> discard_body(Request&, Duration rest);

}  // namespace reprise::net
