// Reads one message head into a buffer.
#pragma once

#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::net {

/// Reads until `take()` returns true. After each read, `take` parses the buffer into `head` and rejects a
/// head that exceeds the limits. Returns the error of a failed read, or no error. The read limit of `source`,
/// a Stream or a ResponseSource, bounds the time. The views in `head` are dropped before the bytes move (row
/// L10).
template <typename Source, typename Head, typename Take>
Task<ErrorCode> read_head(Source& source, Buffer& buffer, Head& head, Take take) {
  for (;;) {
    if (buffer.room_left() == 0) {
      head.reset();
      buffer.grow();
    }
    const auto [error, bytes] = co_await source.read_some(buffer.room());
    if (error) co_return error;
    buffer.commit(bytes);
    if (take()) co_return ErrorCode();
  }
}

}  // namespace reprise::net
