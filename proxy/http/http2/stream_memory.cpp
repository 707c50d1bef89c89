#include "proxy/http/http2/stream_memory.hpp"

#include <algorithm>

namespace reprise::http {

std::uint64_t StreamMemory::take(std::uint64_t bytes) {
  std::int64_t held = held_.load(std::memory_order_relaxed);
  std::int64_t taken = 0;
  do {
    const std::int64_t free = most_.load(std::memory_order_relaxed) - held;
    if (free < static_cast<std::int64_t>(least_share)) return 0;
    taken = std::min(free, static_cast<std::int64_t>(bytes));
    // Fails if another thread has changed `held_` meanwhile.
  } while (!held_.compare_exchange_weak(held, held + taken, std::memory_order_relaxed));
  return static_cast<std::uint64_t>(taken);
}

}  // namespace reprise::http
