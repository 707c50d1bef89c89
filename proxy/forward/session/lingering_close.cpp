#include "proxy/forward/session/lingering_close.hpp"

#include <algorithm>

namespace reprise::forward {

Task<void> lingering_close(net::Stream& stream, net::Buffer& buffer, Duration idle) {
  stream.finish_sending();
  const Instant until = net::Tick::now() + linger_time;
  for (;;) {
    stream.limit_read_until(std::min(until, net::Tick::now() + idle));
    buffer.clear();
    const auto [error, bytes] = co_await stream.read_some(buffer.room());
    if (error) break;
  }
  stream.close();
}

}  // namespace reprise::forward
