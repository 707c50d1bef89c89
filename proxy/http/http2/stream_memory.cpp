#include "proxy/http/http2/stream_memory.hpp"

#include <algorithm>

namespace reprise::http {

std::uint64_t StreamMemory::take(std::uint64_t bytes) {
  const std::int64_t free = this->free();
  if (free < static_cast<std::int64_t>(least_share)) return 0;
  const std::int64_t taken = std::min(free, static_cast<std::int64_t>(bytes));
  const std::int64_t before = held_.fetch_add(taken, std::memory_order_relaxed);
  if (before <= most_.load(std::memory_order_relaxed) - taken) return static_cast<std::uint64_t>(taken);
  // Another thread has taken the free bytes meanwhile.
  held_.fetch_sub(taken, std::memory_order_relaxed);
  return 0;
}

}  // namespace reprise::http
