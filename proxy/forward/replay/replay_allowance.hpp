// The limit on the bytes of request bodies in memory or on disk, and each request's share of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "proxy/telemetry/metrics/metrics.hpp"

namespace reprise::forward {

/// The limit of one medium (memory or disk). Reports its use to the medium's gauges. Thread-safe; must
/// outlive its allotments.
class ReplayAllowance {
 public:
  ReplayAllowance(std::uint64_t most_bytes, telemetry::ReplayMedium medium, telemetry::Metrics& metrics)
      : medium_(medium), metrics_(metrics) {
    set_most(most_bytes);
  }

  /// Sets a new limit. If more bytes than the limit are held, they stay held, and no bytes can be taken until
  /// enough are given back.
  void set_most(std::uint64_t bytes);

  /// Takes `bytes` bytes of the limit. Takes nothing and returns false if fewer than `left` bytes would
  /// remain free.
  [[nodiscard]] bool take(std::uint64_t bytes, std::uint64_t left = 0);
  void give_back(std::uint64_t bytes);
  /// Returns true if `take(bytes)` would succeed now.
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

/// The bytes of a ReplayAllowance that one request has taken. The destructor gives the bytes back. An
/// Allotment may be moved to another thread and destroyed there.
class Allotment {
 public:
  Allotment() = default;
  explicit Allotment(ReplayAllowance& whole) : whole_(&whole) {}
  Allotment(Allotment&& other) noexcept
      : whole_(std::exchange(other.whole_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Allotment& operator=(Allotment&& other) noexcept;
  ~Allotment() { release(); }

  /// Takes `bytes` more bytes. Takes nothing and returns false if fewer than `left` bytes of the allowance
  /// would remain free.
  [[nodiscard]] bool grow(std::uint64_t bytes, std::uint64_t left = 0);
  void release();
  /// Moves up to `bytes` bytes of this share into a new Allotment.
  [[nodiscard]] Allotment split(std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

 private:
  ReplayAllowance* whole_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace reprise::forward
