// A cache of buffers of finished bodies, for reuse by later bodies.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace reprise::forward {

/// Thread-safe. A long buffer occupies pages of its own, which return to the system after a burst. But a new
/// buffer costs a page fault for every 4 KiB: without kept buffers, a PUT of 200 KiB took almost twice the
/// CPU time. So a few buffers are kept.
class SpareBuffers {
 public:
  /// Shorter buffers are not kept: they are on the heap, where they cost no page faults.
  static constexpr std::size_t least_bytes = std::size_t{32} * 1024;
  /// Limit for the total capacity of the kept buffers. Not a part of `limits.replay_memory`.
  static constexpr std::size_t most_bytes = std::size_t{4} * 1024 * 1024;

  /// Returns an empty string with capacity for at least `bytes` and less than twice as many.
  std::string take(std::size_t bytes);
  /// Keeps the buffer for reuse. Frees it instead if it is too short or if enough buffers are kept. The
  /// buffer's content is never read again.
  void give(std::string&& buffer);

  /// Returns the total capacity of the kept buffers.
  std::size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> kept_;
  std::size_t bytes_ = 0;
};

}  // namespace reprise::forward
