#include "proxy/tools/simulate/model/chance.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "proxy/tools/simulate/event_queue.hpp"
#include "proxy/tools/simulate/model/model.hpp"

namespace reprise::tools {
namespace {

constexpr int draws = 1'000'000;

TEST(Chance, logarithm_and_exponential_match_the_standard_library) {
  for (double x = 1e-9; x < 1e9; x *= 1.0173) {
    EXPECT_NEAR(logarithm(x), std::log(x), 2e-15 * std::max(1.0, std::abs(std::log(x)))) << x;
  }
  EXPECT_EQ(logarithm(1), 0);
  for (double x = -700; x < 700; x += 0.37) EXPECT_NEAR(power_of_e(x) / std::exp(x), 1, 1e-13) << x;
}

// Compares exact numbers, so that a library or processor that draws other numbers is noticed.
TEST(Chance, same_seed_draws_the_same_numbers_on_every_platform) {
  Chance chance(7);
  EXPECT_EQ(chance.uniform(), 0x1.8f2f879164c82p-2);
  EXPECT_EQ(chance.exponential(), 0x1.1564fc853fd13p-6);
  EXPECT_EQ(chance.normal(), 0x1.c0c22ddaaa164p-1);
}

TEST(Chance, means_and_deviations_of_drawn_numbers_match_their_distributions) {
  Chance chance(1);
  double uniform = 0;
  double exponential = 0;
  double normal = 0;
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = chance.uniform();
    ASSERT_TRUE(u >= 0 && u < 1);
    uniform += u;
    exponential += chance.exponential();
    const double n = chance.normal();
    normal += n;
    squares += n * n;
  }
  // Each bound is five standard deviations of the mean of `draws` numbers.
  EXPECT_NEAR(uniform / draws, 0.5, 5 * 0.2887e-3);
  EXPECT_NEAR(exponential / draws, 1, 5e-3);
  EXPECT_NEAR(normal / draws, 0, 5e-3);
  EXPECT_NEAR(squares / draws, 1, 5 * 1.4143e-3);
}

TEST(Chance, drawn_latencies_have_the_configured_mean) {
  const auto ms = [](int count) { return std::chrono::milliseconds(count); };
  for (const Latency& latency :
       {Latency{Latency::Kind::fixed, ms(20), {}, 0}, Latency{Latency::Kind::uniform, ms(10), ms(90), 0},
        Latency{Latency::Kind::exponential, ms(30), {}, 0},
        Latency{Latency::Kind::lognormal, ms(50), {}, 0.5}}) {
    Chance chance(3);
    double sum = 0;
    for (int i = 0; i < 200'000; ++i) sum += std::chrono::duration<double>(latency.draw(chance)).count();
    EXPECT_NEAR(sum / 200'000 / latency.mean_seconds(), 1, 0.012) << static_cast<int>(latency.kind);
  }
  // A drawn latency is at least a nanosecond and at most a day.
  Chance chance(4);
  const Latency wild{Latency::Kind::lognormal, std::chrono::hours(20), {}, 4};
  for (int i = 0; i < 1000; ++i) {
    const Duration drawn = wild.draw(chance);
    ASSERT_TRUE(drawn >= Duration(1) && drawn <= std::chrono::hours(24));
  }
}

TEST(EventQueue, events_come_in_time_order_and_simultaneous_ones_in_insertion_order) {
  EventQueue queue;
  policy::SeededDice dice(5);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    Event event;
    event.at = Instant{} + Duration(static_cast<std::int64_t>(dice.roll(999)));
    event.ticket.place = i;
    queue.push(event);
    if (i % 3 == 0) queue.pop();
  }
  std::size_t count = 0;
  Event before = queue.pop();
  while (!queue.empty()) {
    const Event next = queue.pop();
    ++count;
    ASSERT_TRUE(before.at < next.at || (before.at == next.at && before.ticket.place < next.ticket.place));
    before = next;
  }
  EXPECT_EQ(count, 10'000 - 3334 - 1);
}

}  // namespace
}  // namespace reprise::tools
