// Tests splicing between two sockets: pipes are reused, each byte moves once, and a failure names its side.
#include "proxy/forward/tunnel/splice.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <boost/asio/post.hpp>
#include <thread>

#include "proxy/net/ends/body_reader.hpp"
#include "tests/support/chance.hpp"
#include "tests/support/descriptors.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/scarce_descriptors.hpp"

namespace reprise::forward {
namespace {

using play::open_pipe_ends;
using play::ScarceDescriptors;

std::string noise(std::size_t bytes) {
  play::Chance dice(static_cast<unsigned>(bytes));
  std::string text(bytes, '\0');
  for (char& one : text) one = dice.byte();
  return text;
}

/// Runs the body on a new thread. The thread's list of free pipes is empty at the start and destroyed at the
/// end.
template <typename Body>
void on_a_fresh_thread(Body body) {
  std::thread(body).join();
}

TEST(SplicePipe, empty_pipe_is_reused) {
  const std::size_t before = open_pipe_ends();
  on_a_fresh_thread([&] {
    for (int i = 0; i < 3; ++i) {
      const SplicePipe pipe = SplicePipe::lend();
      ASSERT_TRUE(pipe);
      EXPECT_EQ(open_pipe_ends(), before + 2);
    }
    EXPECT_EQ(open_pipe_ends(), before + 2);
  });
  EXPECT_EQ(open_pipe_ends(), before);
}

TEST(SplicePipe, pipe_with_unread_bytes_is_closed) {
  const std::size_t before = open_pipe_ends();
  on_a_fresh_thread([&] {
    net::Bench bench;
    net::Pair from = net::connect_pair(bench);
    ASSERT_TRUE(from.raw.send("stale"));
    ASSERT_TRUE(net::has_arrived(*from.stream, 5));
    {
      SplicePipe pipe = SplicePipe::lend();
      ErrorCode error;
      EXPECT_EQ(pipe.fill(from.stream->descriptor(), 5, error), 5U);
      EXPECT_FALSE(error);
      EXPECT_EQ(pipe.held(), 5U);
    }
    EXPECT_EQ(open_pipe_ends(), before);
  });
}

TEST(SplicePipe, pipe_that_was_moved_to_another_object_is_returned_only_once) {
  const std::size_t before = open_pipe_ends();
  on_a_fresh_thread([&] {
    SplicePipe first = SplicePipe::lend();
    const SplicePipe second(std::move(first));
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(second);
  });
  EXPECT_EQ(open_pipe_ends(), before);
}

TEST(SplicePipe, number_of_idle_and_open_pipes_is_limited) {
  const std::size_t before = open_pipe_ends();
  // The idle pipes of this thread count towards `most_pipes` too.
  const int most = SplicePipe::most_pipes - static_cast<int>(before / 2);
  on_a_fresh_thread([&] {
    {
      std::vector<SplicePipe> pipes;
      for (int i = 0; i < most; ++i) pipes.push_back(SplicePipe::lend());
      EXPECT_TRUE(pipes.back());
      EXPECT_FALSE(SplicePipe::lend());
      pipes.pop_back();
      EXPECT_TRUE(SplicePipe::lend());
    }
    EXPECT_EQ(open_pipe_ends(), before + 2 * 8);
  });
  EXPECT_EQ(open_pipe_ends(), before);
}

TEST(SplicePipe, no_pipe_is_available_without_free_descriptors) {
  if (play::sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  const std::size_t before = open_pipe_ends();
  on_a_fresh_thread([&] {
    for (const rlim_t more : {rlim_t{0}, rlim_t{1}, rlim_t{2}}) {
      const ScarceDescriptors scarce(more);
      EXPECT_FALSE(SplicePipe::lend()) << more;
    }
    EXPECT_TRUE(SplicePipe::lend());
  });
  EXPECT_EQ(open_pipe_ends(), before);
}

/// Fixture with two connections. move() splices bytes from one to the other.
class SpliceTest : public ::testing::Test {
 protected:
  Spliced move(std::uint64_t bytes, SpliceLimits limits = {net::long_enough, net::long_enough}) {
    return bench.run(splice(SplicePipe::lend(), *from.stream, *to.stream, bytes, limits));
  }

  net::Bench bench;
  net::Pair from = net::connect_pair(bench);
  net::Pair to = net::connect_pair(bench);
};

TEST_F(SpliceTest, exactly_the_requested_bytes_are_moved) {
  ASSERT_TRUE(from.raw.send("0123456789surplus"));
  ASSERT_TRUE(net::has_arrived(*from.stream, 17));
  const Spliced done = move(10);
  EXPECT_EQ(done.step, net::BodyStep::end);
  EXPECT_FALSE(done.unsent);
  EXPECT_EQ(done.bytes, 10U);
  ASSERT_TRUE(to.raw.read_bytes(10));
  EXPECT_EQ(to.raw.received(), "0123456789");
  EXPECT_EQ(from.stream->unread(), net::Unread::bytes);
}

TEST_F(SpliceTest, long_body_arrives_complete_at_a_slow_reader) {
  const std::string body = noise(9'000'001);
  std::string got;
  std::thread writer([&] {
    play::Chance dice(1);
    for (std::size_t at = 0; at < body.size();) {
      const std::string_view piece = std::string_view(body).substr(at, 1 + dice.below(300'000));
      if (!from.raw.send(piece)) return;
      at += piece.size();
    }
  });
  std::thread reader([&] {
    play::Chance dice(2);
    while (got.size() < body.size() && to.raw.read_bytes(1)) {
      got += to.raw.take(std::min<std::size_t>(to.raw.received().size(), 1 + dice.below(50'000)));
      if (dice.one_in(8)) play::yield_a_moment();
    }
  });
  const Spliced done = move(body.size());
  writer.join();
  reader.join();
  EXPECT_EQ(done.step, net::BodyStep::end);
  EXPECT_EQ(done.bytes, body.size());
  EXPECT_TRUE(got == body);
}

TEST_F(SpliceTest, fin_is_reported_after_the_bytes_before_it) {
  ASSERT_TRUE(from.raw.send("half"));
  from.raw.finish_sending();
  const Spliced done = move(10);
  EXPECT_EQ(done.step, net::BodyStep::closed);
  EXPECT_FALSE(done.unsent);
  EXPECT_EQ(done.bytes, 4U);
  ASSERT_TRUE(to.raw.read_bytes(4));
}

TEST_F(SpliceTest, upstream_reset_is_reported_as_a_read_failure) {
  ASSERT_TRUE(from.raw.send("half"));
  ASSERT_TRUE(net::has_arrived(*from.stream, 4));
  from.raw.reset();
  const Spliced done = move(10);
  EXPECT_EQ(done.step, net::BodyStep::failed);
  EXPECT_FALSE(done.unsent);
  EXPECT_EQ(done.bytes, 4U);
  ASSERT_TRUE(to.raw.read_bytes(4));
}

TEST_F(SpliceTest, silent_upstream_is_reported_as_stalled) {
  ASSERT_TRUE(from.raw.send("half"));
  ASSERT_TRUE(net::has_arrived(*from.stream, 4));
  const Spliced done = move(10, {.read = std::chrono::milliseconds(60), .write = net::long_enough});
  EXPECT_EQ(done.step, net::BodyStep::stalled);
  EXPECT_FALSE(done.unsent);
  EXPECT_EQ(done.bytes, 4U);
  EXPECT_FALSE(from.stream->take_limit_hit());
}

TEST_F(SpliceTest, client_reset_is_reported_as_a_write_failure) {
  to.raw.reset();
  ASSERT_TRUE(net::has_arrived(*to.stream, 1));
  ASSERT_TRUE(from.raw.send("whole"));
  const Spliced done = move(5);
  EXPECT_TRUE(done.unsent);
  EXPECT_EQ(done.bytes, 0U);
}

TEST_F(SpliceTest, client_that_does_not_read_times_out) {
  const std::string body = noise(20'000'000);
  std::thread writer([&] { static_cast<void>(from.raw.send(body)); });
  const Spliced done = move(body.size(), {.read = net::long_enough, .write = std::chrono::seconds(1)});
  EXPECT_TRUE(done.unsent);
  EXPECT_LT(done.bytes, body.size());
  from.stream->close();
  writer.join();
}

TEST_F(SpliceTest, cancelled_upstream_read_ends_the_transfer) {
  asio::post(bench.io, [&] { from.stream->cancel(); });
  EXPECT_EQ(move(5).step, net::BodyStep::failed);
}

TEST_F(SpliceTest, only_long_bodies_with_content_length_and_no_buffered_bytes_are_spliced) {
  using Kind = http::Framing::Kind;
  const auto response = [&](Kind kind, std::uint64_t length, std::string_view at_hand) {
    net::Buffer buffer;
    if (!at_hand.empty()) {
      at_hand.copy(static_cast<char*>(buffer.room().data()), at_hand.size());
      buffer.commit(at_hand.size());
    }
    http::Framing framing;
    framing.kind = kind;
    framing.length = length;
    net::BodyReader reader;
    reader.begin(*from.stream, buffer, framing);
    return may_splice(reader.rest_on_socket(), to.stream.get());
  };
  EXPECT_TRUE(response(Kind::length, 10'000'000, ""));
  EXPECT_FALSE(response(Kind::length, 10'000'000, "some"));
  EXPECT_FALSE(response(Kind::length, 10'000, ""));
  EXPECT_FALSE(response(Kind::chunked, 10'000'000, ""));
  EXPECT_FALSE(response(Kind::until_close, 10'000'000, ""));
  EXPECT_FALSE(response(Kind::none, 10'000'000, ""));
}

}  // namespace
}  // namespace reprise::forward
