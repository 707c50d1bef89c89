// How many bytes of request bodies the process may hold in one place, and one request's part of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::forward {

/// The whole: counted, bounded and told to the gauges of its medium. Thread-safe; outlives its allotments.
class ReplayAllowance {
 public:
  ReplayAllowance(std::uint64_t most_bytes, telemetry::ReplayMedium medium, telemetry::Metrics& metrics)
      : medium_(medium), metrics_(metrics) {
    set_most(most_bytes);
  }

  /// Another limit. What is held beyond it stays held, and nothing more is taken until enough has gone.
  void set_most(std::uint64_t bytes);

  /// False, and nothing taken, where less than `left` would be left up to the limit.
  [[nodiscard]] bool take(std::uint64_t bytes, std::uint64_t left = 0);
  void give_back(std::uint64_t bytes);
  /// True if `take` would give so many now.
  bool has(std::uint64_t bytes) const {
    const std::uint64_t most = most_.load(std::memory_order_relaxed);
    return bytes <= most && held() <= most - bytes;
  }
  std::uint64_t held() const { return held_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> most_{0};
  const telemetry::ReplayMedium medium_;
  telemetry::Metrics& metrics_;
  std::atomic<std::uint64_t> held_{0};
};

/// What one request has taken; gives it back when it goes. May be moved to another thread and end there.
class Allotment {
 public:
  Allotment() = default;
  explicit Allotment(ReplayAllowance& whole) : whole_(&whole) {}
  Allotment(Allotment&& other) noexcept
      : whole_(std::exchange(other.whole_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Allotment& operator=(Allotment&& other) noexcept;
  ~Allotment() { release(); }

  /// False, and nothing taken, where the whole would have less than `left` left.
  [[nodiscard]] bool grow(std::uint64_t bytes, std::uint64_t left = 0);
  void release();
  /// Gives that part of its own to another, at most all.
  [[nodiscard]] Allotment split(std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

 private:
  ReplayAllowance* whole_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace reprise::forward
