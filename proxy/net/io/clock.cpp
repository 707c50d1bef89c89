#include "proxy/net/io/clock.hpp"

#include <chrono>

namespace reprise::net {

thread_local constinit TimeSource* Clock::source_ = nullptr;

std::int64_t Clock::wall_nanoseconds() {
  if (source_ != nullptr) return source_->wall_nanoseconds();
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
}

}  // namespace reprise::net
