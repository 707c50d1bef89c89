// Tests the coarse timer: never early, in order, and safe whatever its callbacks do.
#include "proxy/net/io/tick.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "tests/support/loopback.hpp"

namespace reprise::net {
namespace {

/// A timer that records when it fires, and then runs `also`.
class Bell final : public Timed {
 public:
  std::vector<Instant> rung;
  std::function<void()> also;

 protected:
  void time_is_up() override {
    rung.push_back(Tick::now());
    if (also) also();
  }
};

TEST(Tick, timer_fires_once_and_never_early) {
  Bench bench;
  Bell bell;
  const Instant due = Tick::now() + milliseconds(120);
  bench.tick.arm(bell, milliseconds(120));
  ASSERT_TRUE(bench.run_until([&] { return !bell.rung.empty(); }));
  EXPECT_GE(bell.rung.front(), due);
  Bell later;
  bench.tick.arm(later, milliseconds(120));
  ASSERT_TRUE(bench.run_until([&] { return !later.rung.empty(); }));
  EXPECT_EQ(bell.rung.size(), 1U);
}

TEST(Tick, shorter_timer_armed_later_fires_first) {
  Bench bench;
  Bell slow;
  Bell quick;
  bench.tick.arm(slow, std::chrono::hours(1));
  bench.tick.arm(quick, milliseconds(60));
  ASSERT_TRUE(bench.run_until([&] { return !quick.rung.empty(); }));
  EXPECT_TRUE(slow.rung.empty());
}

TEST(Tick, timers_of_all_durations_fire) {
  Bench bench;
  std::vector<std::unique_ptr<Bell>> bells;
  std::vector<Instant> due;
  for (int i = 0; i < 60; ++i) {
    bells.push_back(std::make_unique<Bell>());
    const milliseconds after(20 + i % 7 * 15);
    due.push_back(Tick::now() + after);
    bench.tick.arm(*bells.back(), after);
  }
  const auto all = [&] {
    for (const auto& bell : bells) {
      if (bell->rung.empty()) return false;
    }
    return true;
  };
  ASSERT_TRUE(bench.run_until(all));
  for (std::size_t i = 0; i < bells.size(); ++i) {
    EXPECT_EQ(bells[i]->rung.size(), 1U);
    EXPECT_GE(bells[i]->rung.front(), due[i]);
  }
}

TEST(Tick, number_of_timer_lists_is_limited_if_all_durations_differ) {
  Bench bench;
  std::vector<std::unique_ptr<Bell>> bells;
  for (int i = 0; i < 1000; ++i) {
    bells.push_back(std::make_unique<Bell>());
    bench.tick.arm(*bells.back(), std::chrono::microseconds(1000 - i));
    EXPECT_LE(bench.tick.lists(), Tick::most_lists);
  }
  ASSERT_TRUE(bench.run_until([&] {
    return std::all_of(bells.begin(), bells.end(), [](const auto& bell) { return bell->rung.size() == 1; });
  }));
  Bell last;
  bench.tick.arm(last, milliseconds(1));
  ASSERT_TRUE(bench.run_until([&] { return !last.rung.empty(); }));
  EXPECT_LT(bench.tick.lists(), 3U) << "empty lists are dropped once there are many";
}

TEST(Tick, rearming_moves_the_expiry) {
  Bench bench;
  Bell later;
  Bell sooner;
  Bell same;
  bench.tick.arm(later, milliseconds(60));
  bench.tick.arm(sooner, std::chrono::hours(1));
  bench.tick.arm(same, milliseconds(60));
  bench.tick.arm(later, std::chrono::hours(1));
  const Instant due = Tick::now() + milliseconds(90);
  bench.tick.arm(sooner, milliseconds(90));
  ASSERT_TRUE(bench.run_until([&] { return !same.rung.empty() && !sooner.rung.empty(); }));
  EXPECT_GE(sooner.rung.front(), due);
  EXPECT_TRUE(later.rung.empty());
  EXPECT_EQ(same.rung.size(), 1U);
}

TEST(Tick, arm_until_accepts_times_in_any_order) {
  Bench bench;
  Bell late;
  Bell early;
  Bell past;
  const Instant now = Tick::now();
  bench.tick.arm_until(late, now + std::chrono::hours(1));
  bench.tick.arm_until(early, now + milliseconds(80));
  bench.tick.arm_until(past, now - seconds(1));
  ASSERT_TRUE(bench.run_until([&] { return !early.rung.empty() && !past.rung.empty(); }));
  EXPECT_GE(early.rung.front(), now + milliseconds(80));
  EXPECT_TRUE(late.rung.empty());
}

TEST(Tick, rearming_an_expired_timer_does_not_delay_other_timers) {
  Bench bench;
  Bell soon;
  Bell past;
  bench.tick.arm(soon, milliseconds(20));
  const auto armed_in_vain = [&] {
    bench.tick.arm_until(past, Tick::now() - seconds(1));
    return !soon.rung.empty();
  };
  EXPECT_TRUE(bench.run_until(armed_in_vain));
}

TEST(Tick, timer_may_rearm_itself_in_its_callback) {
  Bench bench;
  Bell bell;
  bell.also = [&] {
    if (bell.rung.size() < 3) bench.tick.arm(bell, milliseconds(30));
  };
  bench.tick.arm(bell, milliseconds(30));
  ASSERT_TRUE(bench.run_until([&] { return bell.rung.size() == 3; }));
  for (std::size_t i = 1; i < 3; ++i) EXPECT_GE(bell.rung[i] - bell.rung[i - 1], milliseconds(30));
}

TEST(Tick, timer_may_destroy_itself_and_others_in_its_callback) {
  Bench bench;
  std::vector<std::unique_ptr<Bell>> bells;
  int rung = 0;
  for (int i = 0; i < 3; ++i) bells.push_back(std::make_unique<Bell>());
  // All timers are due in the same pass. The first timer that fires destroys all timers.
  for (const auto& bell : bells) {
    bell->also = [&] {
      ++rung;
      const auto everyone = std::move(bells);
      bells.clear();
    };
    bench.tick.arm(*bell, milliseconds(20));
  }
  Bell after;
  bench.tick.arm(after, milliseconds(20));
  ASSERT_TRUE(bench.run_until([&] { return !after.rung.empty(); }));
  EXPECT_EQ(rung, 1);
}

TEST(Tick, timer_may_disarm_another_that_expires_in_the_same_pass) {
  Bench bench;
  Bell first;
  Bell second;
  Bell third;
  first.also = [&] { Tick::disarm(second); };
  bench.tick.arm(first, milliseconds(20));
  bench.tick.arm(second, milliseconds(20));
  bench.tick.arm(third, milliseconds(20));
  ASSERT_TRUE(bench.run_until([&] { return !third.rung.empty(); }));
  EXPECT_EQ(first.rung.size(), 1U);
  EXPECT_TRUE(second.rung.empty());
}

TEST(Tick, timer_may_arm_another_with_a_new_duration_in_its_callback) {
  Bench bench;
  Bell first;
  Bell second;
  first.also = [&] { bench.tick.arm(second, milliseconds(77)); };
  bench.tick.arm(first, milliseconds(20));
  ASSERT_TRUE(bench.run_until([&] { return !second.rung.empty(); }));
  EXPECT_GE(second.rung.front() - first.rung.front(), milliseconds(77));
}

TEST(Tick, disarmed_or_destroyed_timer_never_fires) {
  Bench bench;
  Bell disarmed;
  auto destroyed = std::make_unique<Bell>();
  bool fired = false;
  destroyed->also = [&] { fired = true; };
  Bell control;
  bench.tick.arm(disarmed, milliseconds(30));
  bench.tick.arm(*destroyed, milliseconds(30));
  bench.tick.arm(control, milliseconds(30));
  Tick::disarm(disarmed);
  Tick::disarm(disarmed);
  destroyed.reset();
  ASSERT_TRUE(bench.run_until([&] { return !control.rung.empty(); }));
  EXPECT_TRUE(disarmed.rung.empty());
  EXPECT_FALSE(fired);
}

TEST(Tick, event_loop_ends_after_stop_although_timers_are_armed) {
  Bench bench;
  Bell bell;
  bench.tick.arm(bell, seconds(3600));
  bench.tick.stop();
  const Instant before = Tick::now();
  bench.io.run();
  EXPECT_LT(Tick::now() - before, long_enough);
  EXPECT_TRUE(bell.rung.empty());
}

TEST(Tick, timers_may_outlive_the_tick_object) {
  Bell bell;
  asio::io_context io;
  {
    Tick tick(io);
    tick.arm(bell, milliseconds(10));
  }
  Tick::disarm(bell);
}

}  // namespace
}  // namespace reprise::net
