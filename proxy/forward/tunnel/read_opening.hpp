// Reads the first bytes of a byte stream until a parser has judged them.
#pragma once

#include <string_view>
#include <type_traits>

#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// Reads until `is_partial` returns false for the result of `parse`. `parse` gets all bytes of the buffer
/// each time. Returns the last result of `parse`; it is still partial if the client left or the stream's read
/// limit was reached.
template <typename Parse, typename IsPartial>
Task<std::invoke_result_t<Parse&, std::string_view>> read_opening(net::Stream& client, net::Buffer& buffer,
                                                                  Parse parse, IsPartial is_partial) {
  auto parsed = parse(buffer.view());
  while (is_partial(parsed)) {
    if (buffer.room_left() == 0) buffer.grow();
    const auto [error, bytes] = co_await client.read_some(buffer.room());
    if (error) break;
    buffer.commit(bytes);
    parsed = parse(buffer.view());
  }
  co_return parsed;
}

}  // namespace reprise::forward
