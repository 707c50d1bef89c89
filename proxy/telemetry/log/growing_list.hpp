// A list that only grows, and that other threads can read without a lock while it grows.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

namespace reprise::telemetry {

/// Elements never move. Any thread may read; only one thread at a time may add.
template <typename T>
class GrowingList {
 public:
  static constexpr std::size_t capacity = 65536;

  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  bool full() const { return size() == capacity; }
  /// Returns the element with the index `place`. Precondition: `place` is below size().
  T& operator[](std::size_t place) const {
    assert(place < size());
    return *(*chunks_[place / chunk_size])[place % chunk_size];
  }
  /// Adds an element. Precondition: the list is not full.
  template <typename... Arguments>
  T& add(Arguments&&... arguments) {
    const std::size_t place = size_.load(std::memory_order_relaxed);
    assert(place < capacity);
    auto& chunk = chunks_[place / chunk_size];
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    auto& element = (*chunk)[place % chunk_size];
    element = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    size_.store(place + 1, std::memory_order_release);
    return *element;
  }

 private:
  static constexpr std::size_t chunk_size = 256;
  using Chunk = std::array<std::unique_ptr<T>, chunk_size>;

  std::array<std::unique_ptr<Chunk>, capacity / chunk_size> chunks_{};
  std::atomic<std::size_t> size_{0};
};

}  // namespace reprise::telemetry
