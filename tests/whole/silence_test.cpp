// Tests dead upstream peers, and upstreams that close idle connections without notice.
#include <netinet/tcp.h>

#include <atomic>
#include <limits>

#include "proxy/forward/attempt/lease.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

/// Number of connections whose peer is dead. A request that is sent before its connection is counted here may
/// still reach the peer.
using Gone = std::atomic<unsigned>;

bool are_gone(const Gone& gone, unsigned connections) {
  return play::eventually([&] { return gone.load() >= connections; });
}

/// Responds to one request on each of the first `connections` connections. Then the peer of that connection
/// is dead, without FIN or RST. Later connections work.
ScriptedUpstream::Script vanishing(Heard& heard, Gone& gone, unsigned connections) {
  return [&heard, &gone, connections](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, "here"));
      if (peer.number > connections) continue;
      peer.socket.vanish();
      ++gone;
    }
  };
}

double stale(const RunningProxy& proxy) {
  return proxy.metric("reprise_retries_total{route=\"default\",reason=\"stale_connection\"}");
}

int user_timeout(int descriptor) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &size) == 0 ? value : -1;
}

/// A client, and a proxy whose only idle upstream connection has a dead peer. Later connections work.
struct DeadAtRest {
  explicit DeadAtRest(Wishes wishes = {}) : proxy(std::move(wishes)) {
    EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
    EXPECT_TRUE(are_gone(gone, 1));
  }

  Heard heard;
  Gone gone = 0;
  ScriptedUpstream upstream{vanishing(heard, gone, 1)};
  RunningProxy proxy;
  RawClient client = proxy.client();
};

TEST(ProxySilence, L4_get_on_a_dead_connection_continues_at_once_on_a_fresh_one) {
  DeadAtRest dead;
  const WireResponse got = dead.client.ask(play::get(dead.upstream.authority()));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  EXPECT_EQ(dead.upstream.connections(), 2U);
  EXPECT_EQ(dead.heard.size(), 2U);
  EXPECT_EQ(stale(dead.proxy), 1) << dead.proxy.metrics();
}

TEST(ProxySilence, L4_held_body_is_sent_again_after_a_dead_connection) {
  DeadAtRest dead;
  const WireResponse got = dead.client.ask(play::with_body("PUT", dead.upstream.authority(), "all of it"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(stale(dead.proxy), 1);
  ASSERT_EQ(dead.heard.size(), 2U);
  EXPECT_TRUE(dead.heard.at(1).ends_with("\r\n\r\nall of it"));
}

TEST(ProxySilence, L4_hedged_attempt_detects_a_dead_connection_too) {
  Wishes wishes;
  // The hedge is not due before the first attempt has detected the dead peer.
  wishes.route.hedge = policy::HedgePolicy{std::chrono::minutes(1)};
  DeadAtRest dead(std::move(wishes));
  EXPECT_EQ(dead.client.ask(play::get(dead.upstream.authority())).status, 200);
  EXPECT_EQ(stale(dead.proxy), 1);
}

TEST(ProxySilence, L4_post_on_a_dead_connection_is_never_sent_twice) {
  Heard heard;
  Gone gone = 0;
  ScriptedUpstream upstream(vanishing(heard, gone, 1000));
  Wishes wishes;
  // By default, response_timeout is `none` and the proxy would wait for the response without a limit.
  wishes.route.response_timeout = std::chrono::seconds(2);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  const std::string post = play::with_body("POST", upstream.authority(), "once");
  // If the machine is slow, a POST is sent more than a second after the last one. Such a POST uses a new
  // connection and succeeds. The test repeats the POST until one uses the idle connection with the dead peer.
  unsigned responded = 0;
  WireResponse got = client.ask(post);
  for (; got.status == 200 && responded < 1000; got = client.ask(post))
    ASSERT_TRUE(are_gone(gone, ++responded));
  EXPECT_EQ(got.status, 504);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
  EXPECT_EQ(heard.size(), responded);
  EXPECT_EQ(upstream.connections(), responded);
}

TEST(ProxySilence, L4_only_a_peer_that_acknowledges_nothing_counts_as_dead) {
  net::Bench bench;
  net::Pair gone = net::connect_pair(bench);
  net::Pair silent = net::connect_pair(bench);
  gone.raw.vanish();
  const Instant begun = net::Tick::now();
  for (net::Pair* pair : {&gone, &silent}) {
    net::Gather word;
    word.add("x");
    ASSERT_FALSE(pair->stream->write_now(word));
  }
  EXPECT_FALSE(gone.stream->seems_dead(net::Tick::now() - begun)) << "it has had no time to be sent again";
  ASSERT_TRUE(bench.run_until([&] { return gone.stream->seems_dead(net::Tick::now() - begun); }));
  EXPECT_FALSE(silent.stream->seems_dead(net::Tick::now() - begun))
      << "it was acknowledged, and never answered";
  // Bytes of an earlier exchange were acknowledged within the last hour, so the peer does not count as dead.
  EXPECT_FALSE(gone.stream->seems_dead(std::chrono::hours(1)));
  EXPECT_FALSE(net::is_dead_peer(-1, Duration::zero()));
}

TEST(ProxySilence, L24_tcp_user_timeout_stays_within_the_limits_of_the_kernel) {
  net::Bench bench;
  net::Pair pair = net::connect_pair(bench);
  const int descriptor = pair.stream->descriptor();
  pair.stream->set_user_timeout(std::chrono::hours(8760));
  EXPECT_EQ(user_timeout(descriptor), std::numeric_limits<int>::max());
  pair.stream->set_user_timeout(std::chrono::milliseconds(1500));
  EXPECT_EQ(user_timeout(descriptor), 1500);
  pair.stream->set_user_timeout(std::chrono::microseconds(1));
  EXPECT_EQ(user_timeout(descriptor), 1) << "zero would be the system's own";
}

TEST(ProxySilence, L4_tcp_user_timeout_depends_on_idempotency_and_deadline_and_body_length) {
  policy::RoutePolicy policy;
  policy.idle_timeout = std::chrono::minutes(7);
  forward::Incoming in;
  forward::Route route;
  const forward::Outgoing out(in, route);
  route.policy = &policy;
  route.facts.idempotent = policy::Idempotency::yes;
  policy.retry.deadline = std::chrono::seconds(10);
  EXPECT_EQ(forward::user_timeout_of(out), std::chrono::seconds(5));
  policy.retry.deadline = std::chrono::hours(8760);
  EXPECT_EQ(forward::user_timeout_of(out), std::chrono::seconds(60));
  policy.retry.deadline.reset();
  EXPECT_EQ(forward::user_timeout_of(out), policy::no_limit);
  policy.retry.deadline = std::chrono::seconds(10);
  route.facts.idempotent = policy::Idempotency::no;
  EXPECT_EQ(forward::user_timeout_of(out), policy::no_limit);
  route.facts.idempotent = policy::Idempotency::yes;
  in.head.framing = {http::Framing::Kind::length, 65536};
  EXPECT_EQ(forward::user_timeout_of(out), std::chrono::seconds(5));
  in.head.framing.length = 65537;
  EXPECT_EQ(forward::user_timeout_of(out), std::chrono::minutes(7));
  in.head.framing = {http::Framing::Kind::chunked, 0};
  EXPECT_EQ(forward::user_timeout_of(out), std::chrono::minutes(7));
}

/// Returns a script that resets a connection, without earlier notice, if a request arrives after the given
/// idle time.
ScriptedUpstream::Script closing_after(std::chrono::milliseconds idle) {
  return [idle](Peer& peer) {
    while (!peer.read_request().empty()) {
      peer.send(response(200, "done"));
      if (peer.socket.read_until("\r\n\r\n", idle)) continue;
      if (peer.socket.read_more()) peer.socket.reset();
      return;
    }
  };
}

TEST(ProxySilence, L5_post_of_a_new_client_never_uses_a_connection_that_the_upstream_closes_as_idle) {
  for (const int idle : {1, 3, 20}) {
    ScriptedUpstream upstream(closing_after(std::chrono::milliseconds(idle)));
    RunningProxy proxy;
    constexpr unsigned requests = 100;
    for (unsigned i = 0; i < requests; ++i) {
      const WireResponse got = proxy.client().ask(play::with_body("POST", upstream.authority(), "x"));
      ASSERT_EQ(got.status, 200) << idle << " ms, request " << i;
    }
    EXPECT_EQ(upstream.connections(), requests);
  }
}

TEST(ProxySilence, F10_non_idempotent_request_uses_a_fresh_connection_first_and_recent_ones_later) {
  std::mutex mutex;
  std::vector<unsigned> seen;
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      {
        const std::scoped_lock lock(mutex);
        seen.push_back(peer.number);
      }
      peer.send(response(200, "x"));
    }
  });
  Wishes wishes;
  wishes.route.replay_memory_bytes = 10;
  wishes.route.replay_disk_bytes = 0;
  RunningProxy proxy(std::move(wishes));
  const std::string short_put = play::with_body("PUT", upstream.authority(), std::string(10, 'x'));
  const std::string long_put = play::with_body("PUT", upstream.authority(), std::string(11, 'x'));
  const std::string post = play::with_body("POST", upstream.authority(), "x");
  for (const std::string& first : {post, long_put}) {
    seen.clear();
    RawClient client = proxy.client();
    EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
    EXPECT_EQ(client.ask(short_put).status, 200);
    EXPECT_EQ(client.ask(first).status, 200);
    EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
    EXPECT_EQ(proxy.client().ask(first).status, 200);
    const std::scoped_lock lock(mutex);
    ASSERT_EQ(seen.size(), 5U);
    EXPECT_EQ(seen[1], seen[0]) << "what can be repeated rides what rests";
    EXPECT_NE(seen[2], seen[1]) << "the first that cannot does not";
    EXPECT_EQ(seen[3], seen[2]);
    EXPECT_NE(seen[4], seen[2]) << "nor that of another client connection";
  }
  // A later POST of the same client connection reuses an idle upstream connection only within one second. If
  // the machine is slower, the test tries again.
  RawClient client = proxy.client();
  EXPECT_TRUE(play::eventually([&] {
    seen.clear();
    EXPECT_EQ(client.ask(post).status, 200);
    EXPECT_EQ(client.ask(post).status, 200);
    const std::scoped_lock lock(mutex);
    return seen[0] == seen[1];
  }));
}

TEST(ProxySilence, F10_first_non_idempotent_request_is_tracked_per_upstream) {
  const auto script = [](Peer& peer) {
    while (!peer.read_request().empty()) peer.send(response(200, "x"));
  };
  ScriptedUpstream one(script);
  ScriptedUpstream other(script);
  RunningProxy proxy;
  EXPECT_EQ(proxy.client().ask(play::get(other.authority())).status, 200);
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::with_body("POST", one.authority(), "x")).status, 200);
  EXPECT_EQ(client.ask(play::with_body("POST", other.authority(), "x")).status, 200);
  EXPECT_EQ(other.connections(), 2U);
}

TEST(ProxySilence, D10_retry_never_uses_the_connection_of_the_previous_attempt) {
  std::mutex mutex;
  std::vector<unsigned> seen;
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      std::size_t asked = 0;
      {
        const std::scoped_lock lock(mutex);
        seen.push_back(peer.number);
        asked = seen.size();
      }
      peer.send(response(asked < 4 ? 503 : 200, "x"));
    }
  });
  RunningProxy proxy;
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 200);
  const std::scoped_lock lock(mutex);
  ASSERT_EQ(seen.size(), 4U);
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_NE(seen[i], seen[i - 1]) << i;
}

}  // namespace
}  // namespace reprise::server
