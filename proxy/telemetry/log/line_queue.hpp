// A bounded queue of log lines and the thread that writes them. If the descriptor blocks, lines are dropped
// and no caller waits.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace reprise::telemetry {

/// Has two buffers of 512 KiB. Callers fill one buffer while the writer thread writes the other buffer to the
/// descriptor. Thread-safe.
class LineQueue {
 public:
  static constexpr std::size_t half_bytes = 512 * 1024;
  /// Fill level of a buffer in bytes at which a caller wakes the writer thread at once.
  static constexpr std::size_t crowded_bytes = half_bytes / 2;

  /// Starts the writer thread. Does not close `descriptor` or change its flags, because other processes may
  /// share it.
  explicit LineQueue(int descriptor);
  /// Writes the queued lines, for at most one second. Lines that remain are lost.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  /// Calls `write(std::string& out)`, which must append one whole line with its newline. If the queue is
  /// full, drops the line without calling `write`.
  template <typename Write>
  void append(const Write& write) {
    if (fill(write)) state_->filled.notify_one();
  }

  /// Returns how many lines were dropped, because the queue was full or the write failed.
  std::uint64_t dropped() const { return state_->dropped.load(std::memory_order_relaxed); }

 private:
  // State that the queue shares with its writer thread. The state outlives the queue if the thread hangs in a
  // write.
  struct State {
    explicit State(int descriptor);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const int descriptor;
    const int give_up;  ///< eventfd: readable once the writer thread must stop waiting for `descriptor`
    std::mutex mutex;
    std::condition_variable filled;
    std::condition_variable finished;
    std::string filling;
    bool idle = false;  ///< the writer thread sleeps until a caller wakes it
    bool stopping = false;
    bool done = false;
    std::atomic<std::uint64_t> dropped{0};
  };
  class Drain;

  // Adds one line, or drops it and counts it as dropped. Returns true if the writer thread must be woken.
  template <typename Write>
  bool fill(const Write& write) {
    const std::lock_guard lock(state_->mutex);
    std::string& filling = state_->filling;
    const std::size_t before = filling.size();
    if (before < half_bytes) {
      write(filling);
      if (filling.size() <= half_bytes) {
        const bool crowded = before < crowded_bytes && filling.size() >= crowded_bytes;
        const bool wake = state_->idle || crowded;
        state_->idle = false;
        return wake;
      }
      filling.resize(before);
    }
    state_->dropped.fetch_add(1, std::memory_order_relaxed);
    return false;
  }

  static void run(const std::shared_ptr<State>&);

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace reprise::telemetry
