// One coarse timer per io thread for all limits: lists ordered by age, walked about every 50 ms while
// anything is due soon.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "proxy/net/io/clock.hpp"

namespace reprise::net {

class Tick;

/// Something with a limit. In at most one list; leaves it when it is destroyed.
/// Not copyable: the lists are intrusive.
class Timed {
 public:
  Timed() = default;
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  virtual ~Timed();

 protected:
  /// Called once, disarmed; may arm itself again, and may destroy itself.
  virtual void time_is_up() = 0;

 private:
  friend class Tick;
  struct List;
  List* list_ = nullptr;
  Timed* previous_ = nullptr;
  Timed* next_ = nullptr;
  Instant due_{};
};

/// Fires up to one granule late, never early. One per io thread; used on that thread only.
class Tick {
 public:
  static constexpr Duration granule = std::chrono::milliseconds(50);

  explicit Tick(boost::asio::io_context& io);
  ~Tick();
  Tick(const Tick&) = delete;
  Tick& operator=(const Tick&) = delete;

  static Instant now() { return Clock::now(); }

  /// Arms, or moves to the tail of the list of that duration: constant time for as many durations as have
  /// lists of their own, see `most_lists`. `no_limit` disarms.
  void arm(Timed&, Duration after);
  /// Arms for a moment that no list's duration gives; meant for few entries. `no_end` disarms.
  void arm_until(Timed&, Instant due);
  static void disarm(Timed&);
  /// Durations that have a list of their own, at most. What is armed for others is found in one list without
  /// an order, so that durations that are all different cost neither memory nor time for good.
  static constexpr std::size_t most_lists = 64;
  std::size_t lists() const { return lists_.size(); }
  /// Ends the timer, so that the io_context can run out of work.
  void stop();

 private:
  Timed::List& list_for(Duration);
  void drop_empty_lists();
  void enter(Timed::List&, Timed&, Instant due);
  void wake_by(Instant due);
  void walk();
  void fire(Timed::List&, Instant now);
  void sleep_until(Instant);

  Timer timer_;
  std::vector<std::unique_ptr<Timed::List>> lists_;
  std::unique_ptr<Timed::List> odd_;
  Instant wake_ = Instant::max();
  bool stopped_ = false;
};

}  // namespace reprise::net
