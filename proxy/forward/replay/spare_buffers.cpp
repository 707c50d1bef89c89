#include "proxy/forward/replay/spare_buffers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace reprise::forward {

std::string SpareBuffers::take(std::size_t bytes) {
  // Sizes are powers of two, so that a buffer fits the next body of similar length.
  const std::size_t capacity = std::bit_ceil(bytes);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), [&](const std::string& one) {
      return one.capacity() >= bytes && one.capacity() < 2 * capacity;
    });
    if (found != kept_.rend()) {
      std::string buffer = std::move(*found);
      kept_.erase(std::next(found).base());
      bytes_ -= buffer.capacity();
      return buffer;
    }
  }
  std::string buffer;
  buffer.reserve(capacity);
  return buffer;
}

void SpareBuffers::give(std::string&& buffer) {
  std::string given = std::move(buffer);
  buffer = std::string();
  given.clear();
  if (given.capacity() < least_bytes) return;
  const std::lock_guard lock(mutex_);
  if (bytes_ + given.capacity() > most_bytes) return;
  bytes_ += given.capacity();
  kept_.push_back(std::move(given));
}

std::size_t SpareBuffers::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace reprise::forward
