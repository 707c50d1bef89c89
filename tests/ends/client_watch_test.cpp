// Tests how ClientWatch detects that the client has gone (FIN or RST), and which operations ClientWatch then
// stops.
#include "proxy/net/ends/client_watch.hpp"

#include "proxy/net/ends/http1_client.hpp"

#include "tests/support/loopback.hpp"

namespace reprise::net {
namespace {

class Stopped final : public Cancellable {
 public:
  int times = 0;
  int looks = 0;
  void cancel() override { ++times; }
  void check_liveness() override { ++looks; }
};

class WatchTest : public ::testing::Test {
 protected:
  Bench bench;
  Pair pair = connect_pair(bench);
  Http1Client client{*pair.stream};
  ClientWatch watch{bench.tick, client};
  Stopped attempt;
  Stopped wait;
};

TEST_F(WatchTest, bytes_from_a_connected_client_end_neither_the_wait_nor_the_attempt) {
  const ClientWatch::Waiting waiting(watch, wait);
  const ClientWatch::Attempt attempting(watch, &attempt);
  pair.raw.send("pipelined");
  ASSERT_TRUE(has_arrived(*pair.stream, 9));
  watch.look();
  EXPECT_FALSE(watch.client_finished());
  EXPECT_FALSE(watch.client_reset());
  EXPECT_EQ(wait.times + attempt.times, 0);
}

TEST_F(WatchTest, L4_attempt_is_checked_for_a_dead_peer_once_a_second) {
  const ClientWatch::Attempt attempting(watch, &attempt);
  const ClientWatch::Waiting waiting(watch, wait);
  const Instant begun = Tick::now();
  ASSERT_TRUE(bench.run_until([&] { return attempt.looks == 2; }));
  const Duration taken = Tick::now() - begun;
  EXPECT_GE(taken, milliseconds(1900));
  EXPECT_EQ(wait.looks, 0);
  EXPECT_EQ(attempt.times, 0);
}

TEST_F(WatchTest, D14_client_fin_after_unread_bytes_ends_only_the_wait) {
  const ClientWatch::Waiting waiting(watch, wait);
  const ClientWatch::Attempt attempting(watch, &attempt);
  pair.raw.send("GET / HTTP/1.1\r\n");
  pair.raw.finish_sending();
  ASSERT_TRUE(bench.run_until([&] { return watch.client_finished(); }));
  EXPECT_FALSE(watch.client_reset());
  EXPECT_EQ(wait.times, 1);
  EXPECT_EQ(attempt.times, 0);
  watch.look();
  EXPECT_EQ(wait.times, 1);
}

TEST_F(WatchTest, D14_client_reset_ends_wait_and_attempt_within_a_second) {
  const ClientWatch::Waiting waiting(watch, wait);
  const ClientWatch::Attempt attempting(watch, &attempt);
  pair.raw.send("unread");
  ASSERT_TRUE(has_arrived(*pair.stream, 6));
  pair.raw.reset();
  ASSERT_TRUE(bench.run_until([&] { return watch.client_reset(); }));
  EXPECT_EQ(wait.times, 1);
  EXPECT_EQ(attempt.times, 1);
}

TEST_F(WatchTest, L17_wait_that_starts_after_shutdown_or_client_fin_ends_at_once) {
  watch.shut_down();
  {
    const ClientWatch::Waiting waiting(watch, wait);
    EXPECT_EQ(wait.times, 1);
  }
  pair.raw.finish_sending();
  ASSERT_TRUE(bench.run_until([&] { return watch.client_finished(); }));
  const ClientWatch::Waiting waiting(watch, wait);
  EXPECT_EQ(wait.times, 2);
  EXPECT_EQ(attempt.times, 0);
}

TEST_F(WatchTest, D14_client_reset_after_a_fin_is_detected) {
  pair.raw.finish_sending();
  ASSERT_TRUE(bench.run_until([&] { return watch.client_finished(); }));
  const ClientWatch::Attempt attempting(watch, &attempt);
  pair.raw.reset();
  Gather word;
  word.add("x");
  // After the FIN, the reset may arrive only in response to sent bytes, so the test keeps writing.
  ASSERT_TRUE(bench.run_until([&] {
    static_cast<void>(pair.stream->write_now(word));
    if (word.empty()) word.add("x");
    return watch.client_reset();
  }));
  EXPECT_EQ(attempt.times, 1);
}

TEST_F(WatchTest, D15_shutdown_ends_the_wait_but_not_the_attempt) {
  const ClientWatch::Waiting waiting(watch, wait);
  const ClientWatch::Attempt attempting(watch, &attempt);
  watch.shut_down();
  EXPECT_TRUE(watch.shutting_down());
  EXPECT_EQ(wait.times, 1);
  EXPECT_EQ(attempt.times, 0);
}

TEST_F(WatchTest, client_reset_that_is_reported_twice_stops_the_attempt_once) {
  const ClientWatch::Attempt attempting(watch, &attempt);
  watch.report_reset();
  watch.report_reset();
  EXPECT_TRUE(watch.client_reset());
  EXPECT_EQ(attempt.times, 1);
}

TEST_F(WatchTest, shutdown_and_reset_without_registered_targets_are_harmless) {
  watch.shut_down();
  watch.report_reset();
  EXPECT_TRUE(watch.client_reset());
}

TEST_F(WatchTest, registered_target_is_stopped_only_during_the_lifetime_of_its_guard) {
  { const ClientWatch::Attempt attempting(watch, &attempt); }
  ClientWatch::Attempt ended(watch, &attempt);
  ended.end();
  { const ClientWatch::Waiting waiting(watch, wait); }
  watch.report_reset();
  EXPECT_EQ(attempt.times + wait.times, 0);
}

}  // namespace
}  // namespace reprise::net
