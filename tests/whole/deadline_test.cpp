// Tests the deadline through the whole proxy: it ends every stage that makes no progress, and no stage that
// makes progress.
#include "tests/support/black_hole.hpp"
#include "tests/support/log_file.hpp"
#include "tests/support/refusing_port.hpp"
#include "tests/support/silent_port.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using play::BlackHole;
using play::SilentPort;

constexpr Duration too_long = std::chrono::hours(1);
/// A number of bytes that exceeds the kernel buffers of both sides, but not the replay limit.
constexpr std::size_t much = 16 << 20;

/// Returns settings in which only the deadline can end a request before the test does.
Wishes with_deadline(Duration deadline) {
  Wishes wishes;
  wishes.route.retry.deadline = deadline;
  wishes.route.connect_timeout = wishes.route.response_timeout = wishes.route.idle_timeout = too_long;
  return wishes;
}

/// Expects that the proxy responds 504 no earlier than the deadline, and that the response names the stage.
void expect_end(const RunningProxy& proxy, const std::string& request, Duration deadline,
                std::string_view error, std::string_view stage) {
  const Instant asked = net::Clock::now();
  const WireResponse got = proxy.client().ask(request);
  EXPECT_GE(net::Clock::now() - asked, deadline);
  EXPECT_EQ(got.status, 504);
  EXPECT_EQ(got.field("Reprise-Reason"), "deadline_too_near");
  EXPECT_NE(got.field("Proxy-Status").find(error), std::string::npos) << got.head;
  EXPECT_NE(got.body.find(stage), std::string::npos) << got.body;
}

std::string connect_to(const std::string& authority) {
  return "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
}

std::string put(const std::string& authority, std::size_t bytes) {
  return "PUT http://" + authority + "/ HTTP/1.1\r\nHost: " + authority +
         "\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n";
}

/// Longer than a deadline of 100 ms plus the second after which an upload without progress counts as stalled.
constexpr milliseconds past_any_stall{1500};

/// Expects that the client receives nothing for `time`, and that its connection stays open. Meanwhile another
/// thread may send for the client.
void expect_nothing_ends_for(milliseconds time, RawClient& client) {
  EXPECT_FALSE(client.socket().read_more(time)) << client.socket().received();
  EXPECT_EQ(client.socket().wire(), play::Wire::open);
}

TEST(ProxyDeadline, L6_hanging_name_lookup_ends_at_the_deadline) {
  Wishes wishes = with_deadline(milliseconds(300));
  wishes.query = [](const net::Resolver::Question&) {};
  RunningProxy proxy(std::move(wishes));
  expect_end(proxy, play::with_body("POST", "up.test:80", "order"), milliseconds(300), "dns_timeout",
             "while resolving");
  expect_end(proxy, connect_to("up.test:443"), milliseconds(300), "dns_timeout", "while resolving");
}

TEST(ProxyDeadline, L6_dial_without_a_response_ends_at_the_deadline) {
  const play::RefusingPort port;
  const BlackHole hole("127.0.0.2", port.number());
  RunningProxy proxy(with_deadline(milliseconds(300)));
  const std::string authority = "127.0.0.2:" + std::to_string(port.number());
  expect_end(proxy, play::with_body("POST", authority, "order"), milliseconds(300), "connection_timeout",
             "while connecting");
  expect_end(proxy, connect_to(authority), milliseconds(300), "connection_timeout", "while connecting");
}

TEST(ProxyDeadline, L6_dials_of_several_unresponsive_addresses_end_at_the_deadline) {
  const play::RefusingPort port;
  const BlackHole first("127.0.0.2", port.number());
  const BlackHole second("127.0.0.3", port.number());
  Wishes wishes = with_deadline(milliseconds(400));
  wishes.query = [](const net::Resolver::Question& question) {
    net::Found both;
    both.list = {asio::ip::make_address("127.0.0.2"), asio::ip::make_address("127.0.0.3")};
    question.complete(both);
  };
  RunningProxy proxy(std::move(wishes));
  expect_end(proxy, play::get("up.test:" + std::to_string(port.number())), milliseconds(400),
             "connection_timeout", "while connecting");
}

TEST(ProxyDeadline, L6_tls_handshake_without_a_response_ends_at_the_deadline) {
  const SilentPort silent;
  Wishes wishes = with_deadline(milliseconds(300));
  wishes.route.tls.originate = true;
  RunningProxy proxy(std::move(wishes));
  expect_end(proxy, play::with_body("POST", silent.authority(), "order"), milliseconds(300),
             "connection_timeout", "in the TLS handshake");
}

TEST(ProxyDeadline, L6_connect_to_a_parent_proxy_that_does_not_respond_ends_at_the_deadline) {
  const SilentPort silent;
  Wishes wishes = with_deadline(milliseconds(300));
  wishes.settings.parent = config::Parent{"127.0.0.1", silent.number(), "", ""};
  RunningProxy proxy(std::move(wishes));
  expect_end(proxy, connect_to("up.test:443"), milliseconds(300), "connection_timeout", "while connecting");
}

/// Returns a script that reads a head and then acknowledges nothing more and sends nothing.
ScriptedUpstream::Script vanishing_after_the_head(std::atomic<bool>& gone) {
  return [&gone](Peer& peer) {
    peer.read_head();
    peer.socket.vanish();
    gone = true;
    peer.socket.read_to_end();
  };
}

TEST(ProxyDeadline, L6_unacknowledged_upload_ends_at_the_deadline) {
  for (const std::size_t bytes : {much, std::size_t{512} << 10}) {
    std::atomic<bool> gone{false};
    ScriptedUpstream upstream(vanishing_after_the_head(gone));
    RunningProxy proxy(with_deadline(milliseconds(1000)));
    RawClient client = proxy.client();
    client.send(put(upstream.authority(), bytes));
    ASSERT_TRUE(play::eventually([&] { return gone.load(); }));
    client.send(std::string(bytes, 'x'));
    const WireResponse got = client.read_response();
    EXPECT_EQ(got.status, 504);
    EXPECT_EQ(got.field("Reprise-Reason"), "deadline_too_near");
    EXPECT_NE(got.body.find("while sending the request"), std::string::npos) << got.body;
    EXPECT_EQ(proxy.metric("reprise_limits_hit_total{limit=\"request_unread\"}"), 1);
  }
}

TEST(ProxyDeadline, L6_upload_is_not_ended_if_the_kernel_accepted_a_part_that_the_upstream_does_not_read) {
  const SilentPort silent;
  RunningProxy proxy(with_deadline(milliseconds(100)));
  for (const std::size_t bytes : {much, std::size_t{512} << 10}) {
    RawClient client = proxy.client();
    std::thread sender([&] { client.send(put(silent.authority(), bytes) + std::string(bytes, 'x')); });
    expect_nothing_ends_for(past_any_stall, client);
    client.socket().wake();
    sender.join();
  }
}

TEST(ProxyDeadline, L6_upload_that_pauses_after_progress_is_completed) {
  std::atomic<bool> goes_on{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_head();
    peer.socket.read_bytes(1000);
    play::eventually([&] { return goes_on.load(); });
    peer.socket.read_bytes(much);
    peer.send(response(200, "all of it"));
  });
  RunningProxy proxy(with_deadline(milliseconds(100)));
  RawClient client = proxy.client();
  std::thread sender([&] { client.send(put(upstream.authority(), much) + std::string(much, 'x')); });
  expect_nothing_ends_for(past_any_stall, client);
  goes_on = true;
  sender.join();
  EXPECT_EQ(client.read_response().body, "all of it");
}

TEST(ProxyDeadline, L6_upload_that_progresses_slowly_or_whose_client_pauses_is_not_cut) {
  std::atomic<std::size_t> got{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_head();
    for (; got < much; got += peer.socket.take_all().size()) {
      if (peer.socket.received().empty() && !peer.socket.read_more()) return;
    }
    peer.send(response(200, "all of it"));
  });
  RunningProxy proxy(with_deadline(milliseconds(100)));
  RawClient client = proxy.client();
  const std::string half(much / 2, 'x');
  client.send(put(upstream.authority(), much) + half);
  ASSERT_TRUE(play::eventually([&] { return got == half.size(); }));
  expect_nothing_ends_for(past_any_stall, client);
  client.send(half);
  EXPECT_EQ(client.read_response().body, "all of it");
}

TEST(ProxyDeadline, L6_non_idempotent_upload_that_stalls_is_not_ended_at_the_deadline) {
  std::atomic<bool> reads{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    play::eventually([&] { return reads.load(); });
    peer.read_head();
    peer.socket.read_bytes(much);
    peer.send(response(200, "all of it"));
  });
  Wishes wishes = with_deadline(milliseconds(100));
  wishes.route.idempotent.kind = policy::IdempotencyRule::Kind::never;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  std::thread sender([&] { client.send(put(upstream.authority(), much) + std::string(much, 'x')); });
  expect_nothing_ends_for(past_any_stall, client);
  reads = true;
  sender.join();
  EXPECT_EQ(client.read_response().body, "all of it");
}

TEST(ProxyDeadline, L6_all_addresses_share_a_time_limit_of_twice_connect_timeout) {
  const play::RefusingPort port;
  net::Found found;
  std::vector<std::unique_ptr<BlackHole>> holes;
  for (int i = 2; i < 12; ++i) {
    const std::string address = "127.0.0." + std::to_string(i);
    holes.push_back(std::make_unique<BlackHole>(address, port.number()));
    found.list.push_back(asio::ip::make_address(address));
  }
  const play::LogFile log;
  Wishes wishes = with_deadline(too_long);
  wishes.route.connect_timeout = milliseconds(300);
  wishes.route.retry.max_attempts = 1;
  wishes.settings.log.level = config::LogLevel::debug;
  wishes.log_descriptor = log.descriptor();
  wishes.query = [found](const net::Resolver::Question& question) { question.complete(found); };
  RunningProxy proxy(std::move(wishes));
  const Instant asked = net::Clock::now();
  const WireResponse got = proxy.client().ask(play::get("up.test:" + std::to_string(port.number())));
  const Duration took = net::Clock::now() - asked;
  EXPECT_EQ(got.status, 504) << got.head;
  EXPECT_EQ(got.field("Reprise-Reason"), "attempts_spent");
  EXPECT_GE(took, milliseconds(550)) << "each of the first two had its connect_timeout";
  // If the attempt had no time limit for all its dials together, it would dial all ten addresses in turn.
  // This limit leaves time for four dials, and no dial starts after the limit, however slow the machine is.
  EXPECT_TRUE(
      play::eventually([&] { return log.says(" of 10 addresses dialled, no connection established"); }));
  EXPECT_FALSE(log.says("10 of 10 addresses dialled")) << log.text();
}

TEST(ProxyDeadline, response_timeout_of_an_idempotent_request_is_retried) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    if (peer.number > 1) peer.send(response(200, "second"));
    peer.socket.read_to_end();
  });
  Wishes wishes;
  wishes.route.retry.deadline.reset();
  wishes.route.response_timeout = milliseconds(300);
  RunningProxy proxy(std::move(wishes));
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 200);
  EXPECT_GE(upstream.connections(), 2U);
}

}  // namespace
}  // namespace reprise::server
