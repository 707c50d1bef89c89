#include "proxy/forward/replay/replay_allowance.hpp"

#include <algorithm>

namespace reprise::forward {

void ReplayAllowance::set_most(std::uint64_t bytes) {
  most_.store(bytes, std::memory_order_relaxed);
  metrics_.set_replay_limit(medium_, bytes);
}

bool ReplayAllowance::take(std::uint64_t bytes, std::uint64_t left) {
  const std::uint64_t limit = most_.load(std::memory_order_relaxed);
  const std::uint64_t most = limit - std::min(limit, left);
  const std::uint64_t before = held_.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes > most || before > most - bytes) {
    held_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  metrics_.replay_bytes_changed(medium_, static_cast<std::int64_t>(bytes));
  return true;
}

void ReplayAllowance::give_back(std::uint64_t bytes) {
  held_.fetch_sub(bytes, std::memory_order_relaxed);
  metrics_.replay_bytes_changed(medium_, -static_cast<std::int64_t>(bytes));
}

Allotment& Allotment::operator=(Allotment&& other) noexcept {
  if (this != &other) {
    release();
    whole_ = std::exchange(other.whole_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

bool Allotment::grow(std::uint64_t bytes, std::uint64_t left) {
  if (!whole_->take(bytes, left)) return false;
  bytes_ += bytes;
  return true;
}

Allotment Allotment::split(std::uint64_t bytes) {
  Allotment part;
  part.whole_ = whole_;
  part.bytes_ = std::min(bytes, bytes_);
  bytes_ -= part.bytes_;
  return part;
}

void Allotment::release() {
  if (bytes_ > 0) whole_->give_back(bytes_);
  bytes_ = 0;
}

}  // namespace reprise::forward
