// Tests which address is dialled at which time, without sockets or a clock.
#include "proxy/net/dial/happy_eyeballs.hpp"

#include <gtest/gtest.h>

#include <string>

namespace reprise::net::happy_eyeballs_test {
namespace {

using policy::Cause;
using std::chrono::milliseconds;

constexpr Instant start{std::chrono::hours(5)};

/// A dial race. `at(N)` returns the next step of the race, N milliseconds after its start: `dial N`, `wait
/// UNTIL`, `wait` (without a timer) or `over`.
class Eyes {
 public:
  explicit Eyes(std::size_t addresses) : order(addresses) {}

  std::string at(int after) {
    const auto step = order.next(start + milliseconds(after));
    if (const auto* dial = std::get_if<HappyEyeballs::Dial>(&step))
      return "dial " + std::to_string(dial->which);
    const auto* wait = std::get_if<HappyEyeballs::Wait>(&step);
    if (wait == nullptr) return "over";
    if (wait->until == Instant::max()) return "wait";
    return "wait " + std::to_string((wait->until - start) / milliseconds(1));
  }

  HappyEyeballs order;
};

TEST(HappyEyeballs, D12_next_dial_starts_250_ms_after_the_previous_one) {
  Eyes eyes(3);
  EXPECT_EQ(eyes.at(0), "dial 0");
  EXPECT_EQ(eyes.at(0), "wait 250");
  EXPECT_EQ(eyes.at(249), "wait 250");
  EXPECT_EQ(eyes.at(250), "dial 1");
  EXPECT_EQ(eyes.at(250), "wait 500");
  EXPECT_EQ(eyes.at(507), "dial 2") << "late, as timers are";
  EXPECT_EQ(eyes.at(507), "wait") << "all are under way";
  EXPECT_EQ(eyes.at(100'000), "wait");
  EXPECT_EQ(eyes.order.begun(), 3U);
}

TEST(HappyEyeballs, D12_delay_before_the_next_dial_counts_from_the_previous_dial) {
  Eyes eyes(3);
  EXPECT_EQ(eyes.at(0), "dial 0");
  EXPECT_EQ(eyes.at(1000), "dial 1");
  EXPECT_EQ(eyes.at(1000), "wait 1250");
}

TEST(HappyEyeballs, D12_failed_dial_starts_the_next_one_at_once) {
  Eyes eyes(4);
  EXPECT_EQ(eyes.at(0), "dial 0");
  eyes.order.failed(Cause::refused);
  EXPECT_EQ(eyes.at(3), "dial 1");
  EXPECT_EQ(eyes.at(3), "wait 253");
  EXPECT_EQ(eyes.at(253), "dial 2");
  eyes.order.failed(Cause::refused);  // dial 1 or 2 failed; it does not matter which
  EXPECT_EQ(eyes.at(260), "dial 3") << "though another is under way";
  EXPECT_EQ(eyes.at(260), "wait");
}

TEST(HappyEyeballs, D12_first_established_connection_wins_and_ends_dialling) {
  Eyes eyes(4);
  EXPECT_EQ(eyes.at(0), "dial 0");
  EXPECT_EQ(eyes.at(250), "dial 1");
  EXPECT_TRUE(eyes.order.connected());
  EXPECT_EQ(eyes.at(600), "wait") << "the loser has not ended";
  eyes.order.failed(Cause::cancelled);
  EXPECT_EQ(eyes.at(601), "over");
  EXPECT_EQ(eyes.order.begun(), 2U);
}

TEST(HappyEyeballs, D12_only_one_of_two_established_connections_wins) {
  Eyes eyes(2);
  EXPECT_EQ(eyes.at(0), "dial 0");
  EXPECT_EQ(eyes.at(250), "dial 1");
  EXPECT_TRUE(eyes.order.connected());
  EXPECT_FALSE(eyes.order.connected());
  EXPECT_EQ(eyes.at(251), "over");
}

TEST(HappyEyeballs, D12_last_failure_is_reported_when_all_dials_fail) {
  Eyes eyes(3);
  EXPECT_EQ(eyes.at(0), "dial 0");
  eyes.order.failed(Cause::no_local_port);
  EXPECT_EQ(eyes.at(0), "dial 1");
  EXPECT_EQ(eyes.at(250), "dial 2");
  eyes.order.failed(Cause::refused);
  EXPECT_EQ(eyes.at(250), "wait") << "one is under way";
  eyes.order.failed(Cause::connect_timeout);
  EXPECT_EQ(eyes.at(5000), "over");
  EXPECT_EQ(eyes.order.failure(), Cause::connect_timeout);
}

TEST(HappyEyeballs, D12_cancel_starts_no_further_dials_and_waits_for_pending_ones) {
  Eyes eyes(3);
  EXPECT_EQ(eyes.at(0), "dial 0");
  EXPECT_EQ(eyes.at(250), "dial 1");
  eyes.order.cancel();
  EXPECT_EQ(eyes.at(600), "wait");
  EXPECT_FALSE(eyes.order.connected()) << "nobody wants it any more";
  EXPECT_EQ(eyes.at(600), "wait");
  eyes.order.failed(Cause::refused);
  EXPECT_EQ(eyes.at(600), "over");
  EXPECT_EQ(eyes.order.failure(), Cause::cancelled);
}

TEST(HappyEyeballs, D12_cancel_before_the_first_dial_starts_no_dial) {
  Eyes eyes(3);
  eyes.order.cancel();
  EXPECT_EQ(eyes.at(0), "over");
  EXPECT_EQ(eyes.order.begun(), 0U);
  EXPECT_EQ(eyes.order.failure(), Cause::cancelled);
}

TEST(HappyEyeballs, L6_no_further_dial_starts_after_the_total_connect_time) {
  Eyes eyes(4);
  EXPECT_EQ(eyes.at(0), "dial 0");
  EXPECT_EQ(eyes.at(250), "dial 1");
  eyes.order.dial_no_more();
  EXPECT_EQ(eyes.at(500), "wait");
  eyes.order.failed(Cause::connect_timeout);
  EXPECT_EQ(eyes.at(500), "wait") << "a failure does not bring the next one on";
  EXPECT_TRUE(eyes.order.connected()) << "what is under way may still stand";
  EXPECT_EQ(eyes.at(501), "over");
}

TEST(HappyEyeballs, L6_first_dial_is_always_started) {
  Eyes eyes(4);
  eyes.order.dial_no_more();
  EXPECT_EQ(eyes.at(0), "dial 0");
  eyes.order.failed(Cause::connect_timeout);
  EXPECT_EQ(eyes.at(50), "over");
  EXPECT_EQ(eyes.order.failure(), Cause::connect_timeout);
}

TEST(HappyEyeballs, I13_sixteen_dead_addresses_are_all_dialled_within_fifteen_stagger_delays) {
  Eyes eyes(16);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(eyes.at(i * 250), "dial " + std::to_string(i));
    EXPECT_EQ(eyes.at(i * 250 + 249), i < 15 ? "wait " + std::to_string((i + 1) * 250) : "wait");
  }
}

TEST(HappyEyeballs, D12_single_address_is_dialled_once) {
  Eyes eyes(1);
  EXPECT_EQ(eyes.at(0), "dial 0");
  EXPECT_EQ(eyes.at(0), "wait");
  eyes.order.failed(Cause::refused);
  EXPECT_EQ(eyes.at(1), "over");
  EXPECT_EQ(eyes.order.failure(), Cause::refused);
}

}  // namespace
}  // namespace reprise::net::happy_eyeballs_test
