// Tests jumps of the wall clock: they do not change waits and limits, and dates in fields keep their meaning.
#include "proxy/http/retry_hints/date.hpp"
#include "proxy/net/io/clock.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

constexpr std::int64_t hour = 3600;

/// The system's steady clock with a wall clock that a test can move.
class MovableWall final : public net::TimeSource {
 public:
  Instant now() override { return std::chrono::steady_clock::now(); }
  std::int64_t wall_nanoseconds() override { return unix_seconds() * 1'000'000'000; }
  void timer_due_in(Duration) override {}

  std::int64_t unix_seconds() const {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<seconds>(since_epoch).count() + offset;
  }
  std::atomic<std::int64_t> offset{0};
};

/// Returns settings that make the proxy's thread use `wall` as its clock.
Wishes with(MovableWall& wall) {
  Wishes wishes;
  wishes.turn = [&wall](boost::asio::io_context& io) {
    net::Clock::take_from(&wall);
    // The test replaces Asio's clock, so Asio checks its timers only when a new timer is due before all
    // others. The loop therefore starts such a timer in every round.
    while (!io.stopped()) {
      net::Timer due(io, Instant());
      due.async_wait([](const ErrorCode&) {});
      io.run_for(milliseconds(1));
    }
    net::Clock::take_from(nullptr);
  };
  return wishes;
}

std::string without_date(std::string_view fields) {
  return "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n" + std::string(fields) + "\r\n";
}

/// The upstream first responds 503 with a Retry-After date one second ahead, and the wall clock then jumps by
/// `jump`. Returns the response that the client gets.
WireResponse ask_again_at_a_date(std::int64_t jump, bool with_date_field) {
  MovableWall wall;
  std::atomic<int> asked{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      if (++asked > 1) {
        peer.send(response(200, "x"));
        continue;
      }
      const std::int64_t now = wall.unix_seconds();
      wall.offset = jump;
      const std::string date = with_date_field ? "Date: " + http::format_date(now) + "\r\n" : "";
      peer.send(without_date(date + "Retry-After: " + http::format_date(now + 1) + "\r\n"));
    }
  });
  RunningProxy proxy(with(wall));
  return proxy.client().ask(play::get(upstream.authority()));
}

TEST(ProxyWallClock, I8_retry_after_date_counts_from_the_date_of_the_response) {
  for (const std::int64_t jump : {std::int64_t{0}, hour, -hour}) {
    const auto before = std::chrono::steady_clock::now();
    const WireResponse got = ask_again_at_a_date(jump, true);
    EXPECT_EQ(got.status, 200) << jump;
    EXPECT_GE(std::chrono::steady_clock::now() - before, seconds(1)) << jump;
  }
}

TEST(ProxyWallClock, I8_retry_after_date_without_a_response_date_counts_from_the_local_clock) {
  // The clock jumped forward: the date is in the past, so only the backoff applies.
  EXPECT_EQ(ask_again_at_a_date(hour, false).status, 200);
  // The clock jumped back: the date is more than retry_after.maximum ahead, which ends the exchange.
  const WireResponse got = ask_again_at_a_date(-hour, false);
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.field("Reprise-Reason"), "upstream_said_later");
}

TEST(ProxyWallClock, I8_running_waits_and_timeouts_ignore_clock_changes) {
  for (const std::int64_t jump : {hour, -hour}) {
    MovableWall wall;
    std::atomic<int> asked{0};
    ScriptedUpstream upstream([&](Peer& peer) {
      while (!peer.read_request().empty()) {
        peer.send(++asked > 1 ? response(200, "x") : response(503, "busy"));
        wall.offset = jump;
      }
    });
    Wishes wishes = with(wall);
    wishes.route.retry.backoff.initial = milliseconds(200);
    wishes.settings.timers.header = milliseconds(200);
    RunningProxy proxy(std::move(wishes));
    RawClient client = proxy.client();
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
    EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(200));
    EXPECT_EQ(client.ask("GET http://a.test/ HTTP/1.1\r\n").status, 408);
  }
}

}  // namespace
}  // namespace reprise::server
