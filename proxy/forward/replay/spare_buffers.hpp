// Buffers of bodies that have ended, lent to the next bodies.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace reprise::forward {

/// A long buffer has pages of its own, so that it goes back to the system after a burst. A fresh one costs a
/// page fault for every 4 KiB: a PUT of 200 KiB took almost twice the CPU time. So a few are kept. Any
/// thread.
class SpareBuffers {
 public:
  /// A shorter buffer lies on the heap, where it costs no page fault: it is not kept.
  static constexpr std::size_t least_bytes = std::size_t{32} * 1024;
  /// The capacity of all that are kept; not a part of `limits.replay_memory`.
  static constexpr std::size_t most_bytes = std::size_t{4} * 1024 * 1024;

  /// An empty string with room for at least `bytes`, and for less than twice as many.
  std::string take(std::size_t bytes);
  /// Keeps the buffer, or frees it if it is too short, or if there are enough. Nobody reads its content
  /// again.
  void give(std::string&& buffer);

  /// The capacity of what is kept now.
  std::size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace reprise::forward
