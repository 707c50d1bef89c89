// A bounded queue of log lines and the thread that writes them: a descriptor that blocks costs lines, never
// the caller's time.
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

/// Two halves of 512 KiB: one is filled by callers while the other is written. Thread-safe.
class LineQueue {
 public:
  static constexpr std::size_t half_bytes = 512 * 1024;
  /// From here on the thread does not wait for more.
  static constexpr std::size_t crowded_bytes = half_bytes / 2;

  /// Starts the thread. `descriptor` is not closed, and its flags are left alone: others share it.
  explicit LineQueue(int descriptor);
  /// Writes what is queued, for at most a second; what is left then is lost.
  ~LineQueue();
  LineQueue(const LineQueue&) = delete;
  LineQueue& operator=(const LineQueue&) = delete;

  /// `write(std::string& out)` appends one whole line with its newline; it is not called if there is no room.
  template <typename Write>
  void append(const Write& write) {
    if (fill(write)) state_->filled.notify_one();
  }

  /// Lines that had no room, or whose writing failed.
  std::uint64_t dropped() const { return state_->dropped.load(std::memory_order_relaxed); }

 private:
  // Outlives the queue where the thread hangs in a write that nothing can end.
  struct State {
    explicit State(int descriptor);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    const int descriptor;
    const int give_up;  ///< eventfd: readable once the thread shall stop waiting for `descriptor`
    std::mutex mutex;
    std::condition_variable filled;
    std::condition_variable finished;
    std::string filling;
    bool idle = false;  ///< the thread sleeps until it is told that there are lines
    bool stopping = false;
    bool done = false;
    std::atomic<std::uint64_t> dropped{0};
  };
  class Drain;

  // True if the thread must be woken.
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
