// Tests how much time each step of connecting may take, at given times and without a clock.
#include "proxy/net/dial/connect_time.hpp"

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{std::chrono::hours(5)};

TEST(ConnectTime, L6_each_connect_step_may_take_connect_timeout_if_there_is_no_deadline) {
  ConnectTime time(5s);
  EXPECT_EQ(time.for_step(start), 5s);
  EXPECT_EQ(time.for_step(start + 1h), 5s) << "a look-up may come late";
  EXPECT_EQ(time.end_of_step(start), start + 5s);
  EXPECT_FALSE(time.is_over(start + 1h));
  EXPECT_EQ(time.each(), 5s);
}

TEST(ConnectTime, L6_no_connect_step_outlasts_the_deadline) {
  ConnectTime time(5s, start + 1s);
  EXPECT_EQ(time.for_step(start), 1s);
  EXPECT_EQ(time.for_step(start + 700ms), 300ms);
  EXPECT_EQ(time.for_step(start + 1s), 0s);
  EXPECT_EQ(time.for_step(start + 2s), 0s) << "never less than nothing";
  EXPECT_EQ(time.end_of_handshake(start), start + 1s);
  EXPECT_FALSE(time.is_over(start + 999ms));
  EXPECT_TRUE(time.is_over(start + 1s));
  time.dialling(start + 500ms);
  EXPECT_EQ(time.for_step(start + 500ms), 500ms) << "the addresses do not move it";
}

TEST(ConnectTime, L6_all_addresses_together_get_twice_connect_timeout) {
  ConnectTime time(5s, start + 1min);
  time.dialling(start + 2s);
  EXPECT_EQ(time.for_step(start + 2s), 5s);
  EXPECT_EQ(time.for_step(start + 8s), 4s) << "begun after 6 of 10 s";
  EXPECT_EQ(time.end_of_handshake(start + 3s), start + 8s) << "with the dial that it follows";
  EXPECT_EQ(time.end_of_handshake(start + 11s), start + 12s);
  EXPECT_TRUE(time.is_over(start + 12s));
}

}  // namespace
}  // namespace reprise::net
