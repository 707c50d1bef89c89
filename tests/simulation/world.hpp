// Runs the events of a story in virtual time. The seed chooses the order of events that are ready at the same
// moment.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string_view>
#include <vector>

#include "proxy/net/io/clock.hpp"
#include "tests/simulation/purpose.hpp"

namespace reprise::simulation {

/// Used by one thread. Provides that thread's clocks while it exists.
class World final : public net::TimeSource {
 public:
  static constexpr Instant beginning{std::chrono::hours(1000)};

  explicit World(Seed seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Instant now() override { return now_; }
  std::int64_t wall_nanoseconds() override;
  void timer_due_in(Duration left) override;
  /// Moves the wall clock. The steady clock does not change.
  void move_wall(Duration by) { wall_offset_ += by.count(); }

  /// Adds a context, whose handlers are polled after every event. Only the first added context may have
  /// timers.
  void drive(boost::asio::io_context& io);
  /// Releases the timer, which belongs to a context. Call before the contexts are destroyed.
  void let_go() { nudge_.reset(); }
  void at(Instant when, std::function<void()> event);
  void after(Duration wait, std::function<void()> event) { at(now_ + wait, std::move(event)); }
  /// Runs the event at the current time, in random order with the other ready events.
  void soon(std::function<void()> event) { ready_.push_back(std::move(event)); }

  /// Runs one event, then all handlers that it makes ready. Returns false if nothing is due up to `limit`.
  bool step(Instant limit);
  std::uint64_t steps() const { return steps_; }
  /// Adds a fact to hash(), which shows whether two runs of a story are equal.
  void note(std::uint64_t fact) { hash_ = (hash_ ^ fact) * 0x100000001B3U; }
  std::uint64_t hash() const { return hash_; }

 private:
  struct Event {
    Instant when;
    std::uint64_t number;
    std::function<void()> run;
    bool operator<(const Event& other) const {
      return when != other.when ? when > other.when : number > other.number;
    }
  };

  bool move_on(Instant limit);
  void poll();
  void fire_timers();

  std::vector<boost::asio::io_context*> driven_;
  std::unique_ptr<net::Timer> nudge_;  ///< makes Asio check its timers
  Chance order_;
  Instant now_ = beginning;
  Instant next_timer_ = Instant::max();
  std::int64_t wall_offset_ = 0;
  std::priority_queue<Event> events_;
  std::vector<std::function<void()>> ready_;
  std::uint64_t number_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t hash_ = 0xCBF29CE484222325U;
};

}  // namespace reprise::simulation
