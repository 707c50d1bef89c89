// Reads a message head from a stream into a buffer, as far as one reaches.
#pragma once

#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::net {

/// Reads until `take()` returns true: it looks at the buffer after each read, parses it into `head` under its
/// limits, and refuses what is over them. Returns the error of the read that failed, or none. How long it may
/// take is what the stream's read limit says. `head` lets go of its views before the bytes move (row L10).
template <typename Head, typename Take>
Task<ErrorCode> read_head(Stream& stream, Buffer& buffer, Head& head, Take take) {
  for (;;) {
    if (buffer.room_left() == 0) {
      head.forget();
      buffer.grow();
    }
    const auto [error, bytes] = co_await stream.read_some(buffer.room());
    if (error) co_return error;
    buffer.commit(bytes);
    if (take()) co_return ErrorCode();
  }
}

}  // namespace reprise::net
