// The polite end of a client's connection: FIN first, then
// what the client is still sending is read for a while.
#pragma once

#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// For so long what a client still sends is read and thrown away, lest its kernel throws our response away
/// (RFC 9112 9.6, rows C5, I4): as long as nginx lingers.
inline constexpr Duration linger_time = std::chrono::seconds(30);
/// And no longer than so after its last byte.
inline constexpr Duration linger_silence = std::chrono::seconds(5);

/// Sends FIN, reads what still comes until nothing has for `silence`, closes. What is in the buffer is
/// forgotten.
Task<void> lingering_close(net::Stream&, net::Buffer&, Duration silence = linger_silence);

}  // namespace reprise::forward
