#include "proxy/net/io/lingering_close.hpp"

#include <algorithm>

namespace reprise::net {

Task<void> lingering_close(Stream& stream, Buffer& buffer, Duration idle) {
  stream.finish_sending();
  const Instant until = Tick::now() + linger_time;
  for (;;) {
    stream.limit_read_until(std::min(until, Tick::now() + idle));
    buffer.clear();
    const auto [error, bytes] = co_await stream.read_some(buffer.room());
    if (error) break;
  }
  stream.close();
}

}  // namespace reprise::net
