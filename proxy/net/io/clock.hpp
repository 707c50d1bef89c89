// The two clocks of the rooms above the sockets: a steady one for limits and waits, the wall's for dates; a
// simulation puts its own in their place.
#pragma once

#include <algorithm>
#include <boost/asio/basic_waitable_timer.hpp>
#include <cstdint>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise {

using policy::Duration;
using policy::Instant;

}  // namespace reprise

namespace reprise::net {

/// Where a thread's time comes from if not from the system.
class TimeSource {
 public:
  virtual Instant now() = 0;
  /// Since the epoch; may jump.
  virtual std::int64_t wall_nanoseconds() = 0;
  /// The earliest timer of the thread's io_context is due in so long, which is not yet. Whoever runs that
  /// context moves `now` on, and then has Asio look at its timers, by starting one that is due.
  virtual void timer_due_in(Duration) = 0;

 protected:
  ~TimeSource() = default;
};

/// What Asio calls a clock. Each thread has its own source, so that simulations run side by side.
class Clock {
 public:
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = Instant;
  static constexpr bool is_steady = true;

  static Instant now() { return source_ == nullptr ? std::chrono::steady_clock::now() : source_->now(); }
  static std::int64_t wall_nanoseconds();

  /// For this thread, until called again; null: the system's clocks. Not while timers wait on it.
  static void take_from(TimeSource* source) { source_ = source; }
  static TimeSource* source() { return source_; }

 private:
  static thread_local constinit TimeSource* source_;
};

/// A moment of the wall clock on the clock that attempts are timed by.
/// Far ones are brought near enough to count with.
inline Instant instant_of(std::int64_t unix_seconds) {
  constexpr std::int64_t far = std::int64_t{1} << 31;
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t wall = Clock::wall_nanoseconds();
  const std::int64_t left = std::clamp(unix_seconds - wall / second, -far, far);
  return Clock::now() + std::chrono::seconds(left) - std::chrono::nanoseconds(wall % second);
}

/// How long Asio sleeps for a timer: until it is told, where time does not pass by itself.
struct ClockWaits {
  static Duration to_wait_duration(const Duration& left) {
    TimeSource* source = Clock::source();
    if (source == nullptr || left <= Duration::zero()) return left;
    source->timer_due_in(left);
    return std::chrono::hours(1);
  }
  static Duration to_wait_duration(const Instant& due) { return to_wait_duration(due - Clock::now()); }
};

/// An exact one-shot timer; limits belong to the Tick.
using Timer = boost::asio::basic_waitable_timer<Clock, ClockWaits>;

}  // namespace reprise::net
