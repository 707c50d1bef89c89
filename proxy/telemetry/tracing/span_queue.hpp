// Bounded queues of finished requests from the io threads to the exporter's thread. No thread ever waits for
// room.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/telemetry/history/encoded_entry.hpp"

namespace reprise::telemetry {

/// Wakes the exporter: one system call for the first request of a batch, and one when a queue is half full.
class SpanBell {
 public:
  SpanBell() = default;
  ~SpanBell();
  SpanBell(const SpanBell&) = delete;
  SpanBell& operator=(const SpanBell&) = delete;

  /// Reports that a queue has a request. Callable on any thread.
  void ring() { wake(rung_); }
  /// Reports that a queue is half full. Callable on any thread.
  void press() { wake(pressed_); }
  /// Wakes the exporter, for example for a new collector or the shutdown. Callable on any thread.
  void call() const;
  bool rung() const { return rung_; }
  bool pressed() const { return pressed_; }
  /// Clears `rung` and `pressed`, so that the next request wakes the exporter again. The exporter's thread
  /// calls this function before it empties the queues.
  void reset();
  /// Returns an eventfd that becomes readable when `ring`, `press` or `call` wakes the exporter. Only the
  /// exporter calls `open`. Before the first call of `open`, only `rung` and `pressed` show such a wake-up.
  /// Throws std::system_error if no descriptor is left.
  int open();

 private:
  void wake(std::atomic<bool>& flag) {
    if (!flag && !flag.exchange(true)) call();
  }

  std::atomic<int> descriptor_{-1};
  std::atomic<bool> rung_{false};
  std::atomic<bool> pressed_{false};
};

struct QueuedEntry {
  HistoryEntry story;  ///< the request, without `id` and `route_name`
  std::uint64_t random = 0;
};

/// A queue from one io thread to the exporter. Reserves all memory at construction, but touches each part of
/// it only when that part is first used.
class SpanQueue {
 public:
  SpanQueue(std::size_t bytes, SpanBell& bell);

  /// Adds a request. Called on the io thread. Returns false at once if there is no room. Does not allocate.
  [[nodiscard]] bool push(const EncodedEntry&, std::uint64_t random);
  /// Takes the oldest request. Called on the exporter's thread.
  std::optional<QueuedEntry> pop();

 private:
  const std::size_t capacity_;  ///< size of the memory in bytes, a multiple of 8
  SpanBell& bell_;
  const std::unique_ptr<std::byte[]> bytes_;
  // Total numbers of bytes read and written so far. Each number has its own cache line.
  alignas(64) std::atomic<std::uint64_t> read_{0};
  alignas(64) std::atomic<std::uint64_t> written_{0};
};

/// One queue for each io thread, and the SpanBell that the queues share.
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
