// Closes a client's connection gracefully: sends FIN first, then reads and discards further bytes from the
// client for a while.
#pragma once

#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::net {

/// Longest time for which a client's bytes are read and discarded before the connection is closed, as in
/// nginx. Without this, the client's kernel may discard the response (RFC 9112 9.6, rows C5, I4).
inline constexpr Duration linger_time = std::chrono::seconds(30);
/// Longest pause between two bytes while the client's bytes are read and discarded.
inline constexpr Duration linger_idle = std::chrono::seconds(5);

/// Sends FIN and discards the buffered bytes. Then reads and discards further bytes from the client, until no
/// byte has arrived for `idle` or `linger_time` has passed. Closes the connection at the end.
Task<void> lingering_close(Stream&, Buffer&, Duration idle = linger_idle);

}  // namespace reprise::net
