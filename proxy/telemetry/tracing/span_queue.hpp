// Stories on their way from io threads to the exporter's thread: bounded, and nobody waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/telemetry/history/stored_story.hpp"

namespace reprise::telemetry {

/// Wakes the exporter: a system call for the first story of a batch, and one when a queue is half full.
class SpanBell {
 public:
  SpanBell() = default;
  ~SpanBell();
  SpanBell(const SpanBell&) = delete;
  SpanBell& operator=(const SpanBell&) = delete;

  /// There is a story. Any thread.
  void ring() { wake(rung_); }
  /// There is hardly room for more. Any thread.
  void press() { wake(pressed_); }
  /// Something else has changed. Any thread.
  void call() const;
  bool rung() const { return rung_; }
  bool pressed() const { return pressed_; }
  /// The exporter's thread, before it empties the queues: what comes from now on rings again.
  void reset();
  /// An eventfd, readable since one of the above was called. Throws std::system_error where there is none
  /// left. Until it was asked for, `rung` and `pressed` are all there is. The exporter's.
  int open();

 private:
  void wake(std::atomic<bool>& flag) {
    if (!flag && !flag.exchange(true)) call();
  }

  std::atomic<int> descriptor_{-1};
  std::atomic<bool> rung_{false};
  std::atomic<bool> pressed_{false};
};

struct QueuedStory {
  Story story;  ///< without `id` and `route_name`
  std::uint64_t random = 0;
};

/// From one thread to one other. All memory is had at construction, and untouched until it is used.
class SpanQueue {
 public:
  SpanQueue(std::size_t bytes, SpanBell& bell);

  /// The io thread. False, at once, where there is no room. Allocates nothing.
  [[nodiscard]] bool push(const StoredStory&, std::uint64_t random);
  /// The exporter's thread: the oldest one.
  std::optional<QueuedStory> pop();

 private:
  const std::size_t capacity_;  ///< a multiple of 8
  SpanBell& bell_;
  const std::unique_ptr<std::byte[]> bytes_;
  // Bytes ever read and ever written; each on a cache line of its own.
  alignas(64) std::atomic<std::uint64_t> read_{0};
  alignas(64) std::atomic<std::uint64_t> written_{0};
};

/// One for each io thread, and their bell.
class SpanQueues {
 public:
  static constexpr std::size_t standard_bytes = 1024 * 1024;

  explicit SpanQueues(std::size_t threads, std::size_t bytes_each = standard_bytes);

  SpanQueue& of(std::size_t thread) { return *queues_[thread]; }
  std::size_t size() const { return queues_.size(); }
  SpanBell& bell() { return bell_; }

 private:
  SpanBell bell_;
  std::vector<std::unique_ptr<SpanQueue>> queues_;
};

}  // namespace reprise::telemetry
