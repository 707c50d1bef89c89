// The limit on the bytes that the streams of all HTTP/2 connections hold (row M103).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace reprise::http {

/// Counts the bytes that have arrived on streams and were not passed on, and the bytes that an upstream may
/// still send because a window was enlarged. Thread-safe; must outlive its connections.
class StreamMemory {
 public:
  /// Least number of bytes by which a window is enlarged.
  static constexpr std::uint64_t least_share = 16 * 1024;

  /// `on_limit`: called once for each stream that the limit slows down, on the thread of the stream.
  explicit StreamMemory(std::uint64_t most_bytes, std::function<void()> on_limit = {})
      : most_(static_cast<std::int64_t>(most_bytes)), on_limit_(std::move(on_limit)) {}

  /// Sets a new limit. If more bytes than the limit are held, they stay held, and no bytes can be taken until
  /// enough are given back.
  void set_most(std::uint64_t bytes) {
    most_.store(static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }

  /// Takes `bytes` bytes, or as many as are free. Takes nothing and returns 0 if fewer than `least_share`
  /// bytes are free.
  [[nodiscard]] std::uint64_t take(std::uint64_t bytes);
  /// Counts bytes that have arrived, also beyond the limit. A negative number gives bytes back.
  void add(std::int64_t bytes) { held_.fetch_add(bytes, std::memory_order_relaxed); }
  /// Returns true if `take` would return 0 now.
  bool is_used_up() const { return free() < static_cast<std::int64_t>(least_share); }
  /// Returns true if more than half of the limit is free.
  bool is_plentiful() const { return free() > most_.load(std::memory_order_relaxed) / 2; }
  std::uint64_t held() const { return static_cast<std::uint64_t>(held_.load(std::memory_order_relaxed)); }

  /// Reports that the limit slows down a stream. Called at most once for each stream.
  void note_limit() const {
    if (on_limit_) on_limit_();
  }

 private:
  std::int64_t free() const {
    return most_.load(std::memory_order_relaxed) - held_.load(std::memory_order_relaxed);
  }

  std::atomic<std::int64_t> most_;
  std::atomic<std::int64_t> held_{0};
  const std::function<void()> on_limit_;
};

}  // namespace reprise::http
