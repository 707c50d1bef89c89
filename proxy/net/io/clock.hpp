// The two clocks of all code above the sockets: a steady one for limits and waits, and the wall clock for
// dates. A simulation replaces both.
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

/// Replaces the system's clocks for one thread.
class TimeSource {
 public:
  virtual Instant now() = 0;
  /// Returns nanoseconds since the epoch. The clock may jump.
  virtual std::int64_t wall_nanoseconds() = 0;
  /// Called when Asio would sleep until the earliest timer of the thread's io_context. The argument is the
  /// time until that timer is due (positive). The code that runs the io_context then advances `now`, and
  /// starts a timer that is already due, so that Asio checks all timers.
  virtual void timer_due_in(Duration) = 0;

 protected:
  ~TimeSource() = default;
};

/// A clock as Asio requires it. Each thread has its own time source, so that several simulations can run
/// concurrently.
class Clock {
 public:
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = Instant;
  static constexpr bool is_steady = true;

  static Instant now() { return source_ == nullptr ? std::chrono::steady_clock::now() : source_->now(); }
  static std::int64_t wall_nanoseconds();

  /// Sets the time source of this thread until the next call; null selects the system's clocks. Precondition:
  /// no timer waits on the clock.
  static void take_from(TimeSource* source) { source_ = source; }
  static TimeSource* source() { return source_; }

 private:
  static thread_local constinit TimeSource* source_;
};

/// Converts a time of the wall clock to the steady clock. Times further away than 2^31 seconds are clamped.
inline Instant instant_of(std::int64_t unix_seconds) {
  constexpr std::int64_t far = std::int64_t{1} << 31;
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t wall = Clock::wall_nanoseconds();
  const std::int64_t left = std::clamp(unix_seconds - wall / second, -far, far);
  return Clock::now() + std::chrono::seconds(left) - std::chrono::nanoseconds(wall % second);
}

/// Returns how long Asio sleeps for a timer. With a TimeSource, Asio sleeps until other code wakes it,
/// because simulated time does not advance by itself.
struct ClockWaits {
  static Duration to_wait_duration(const Duration& left) {
    TimeSource* source = Clock::source();
    if (source == nullptr || left <= Duration::zero()) return left;
    source->timer_due_in(left);
    return std::chrono::hours(1);
  }
  static Duration to_wait_duration(const Instant& due) { return to_wait_duration(due - Clock::now()); }
};

/// An exact one-shot timer. Use Tick for time limits.
using Timer = boost::asio::basic_waitable_timer<Clock, ClockWaits>;

}  // namespace reprise::net
