#include "proxy/session/lingering_close.hpp"

namespace reprise::net {
namespace {

constexpr std::size_t drain_bytes = std::size_t{256} * 1024;
constexpr Duration drain_time = std::chrono::seconds(2);

}  // namespace

Task<void> lingering_close(Stream& stream, Buffer& buffer) {
  stream.finish_sending();
  stream.limit_read(drain_time);
  std::size_t drained = 0;
  while (drained < drain_bytes) {
    buffer.clear();
    const auto [error, bytes] = co_await stream.read_some(buffer.room());
    if (error) break;
    drained += bytes;
  }
  stream.close();
}

}  // namespace reprise::net
