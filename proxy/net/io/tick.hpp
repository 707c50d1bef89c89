// One coarse timer per io thread for all limits: lists ordered by age, checked about every 50 ms while any
// entry is due soon.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "proxy/net/io/clock.hpp"

namespace reprise::net {

class Tick;

/// An entry with a time limit. An entry is in at most one list, and its destructor removes it from that list.
/// Not copyable, because the lists are intrusive.
class Timed {
 public:
  Timed() = default;
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  virtual ~Timed();

 protected:
  /// Called once when the limit is reached; the entry is disarmed at that time. The entry may arm itself
  /// again or destroy itself.
  virtual void time_is_up() = 0;

 private:
  friend class Tick;
  struct List;
  List* list_ = nullptr;
  Timed* previous_ = nullptr;
  Timed* next_ = nullptr;
  Instant due_{};
};

/// Calls `time_is_up` of each entry, at most 50 ms (`granule`) late and never early. One per io thread; used
/// on that thread only.
class Tick {
 public:
  static constexpr Duration granule = std::chrono::milliseconds(50);

  explicit Tick(boost::asio::io_context& io);
  ~Tick();
  Tick(const Tick&) = delete;
  Tick& operator=(const Tick&) = delete;

  static Instant now() { return Clock::now(); }

  /// Arms the entry for `after` from now, even if it is armed already. Takes constant time if the duration
  /// has its own list (see `most_lists`). `no_limit` disarms the entry.
  void arm(Timed&, Duration after);
  /// Arms the entry for a point in time; meant for few entries. `no_end` disarms the entry.
  void arm_until(Timed&, Instant due);
  static void disarm(Timed&);
  /// Maximum number of durations that have their own ordered list of entries. The entries of all other
  /// durations share one unordered list, because a separate list for each of them would cost memory and time
  /// permanently.
  static constexpr std::size_t most_lists = 64;
  std::size_t lists() const { return lists_.size(); }
  /// Stops the timer, so that the io_context has no more work and can end.
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
