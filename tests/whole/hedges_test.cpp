// Tests hedged requests on the wire: which attempt wins, how the other one ends, and which requests are never
// hedged.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using play::eventually;

Wishes hedging() {
  Wishes wishes;
  wishes.route.hedge = policy::HedgePolicy{milliseconds(5)};
  return wishes;
}

double hedges(const RunningProxy& proxy, const std::string& outcome) {
  return proxy.metric("reprise_hedges_total{route=\"default\",outcome=\"" + outcome + "\"}");
}

// Attempt 1 is on the first connection, because the hedge starts later.
TEST(ProxyHedges, hedge_response_wins_and_the_first_attempt_is_cancelled) {
  std::atomic<bool> cancelled{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    if (peer.number == 2) return peer.send(response(200, "from the copy"));
    peer.socket.read_to_end();
    cancelled = true;
  });
  RunningProxy proxy(hedging());
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority(), "/"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "from the copy");
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  EXPECT_TRUE(eventually([&] { return cancelled.load(); }));
  EXPECT_TRUE(eventually([&] { return hedges(proxy, "won") == 1; }));
  EXPECT_EQ(proxy.metric("reprise_retries_total{route=\"default\",reason=\"hedged\"}"), 1);
  EXPECT_EQ(proxy.metric("reprise_attempts_total{route=\"default\",outcome=\"cancelled\"}"), 1);
  EXPECT_EQ(proxy.metric("reprise_recovered_total{route=\"default\"}"), 0);
}

TEST(ProxyHedges, first_response_wins_and_the_hedge_is_cancelled) {
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    if (peer.number == 1) {
      eventually([&] { return upstream.connections() == 2; });
      peer.send(response(200, "from the first"));
    }
    peer.socket.read_to_end();
  });
  RunningProxy proxy(hedging());
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority(), "/"));
  EXPECT_EQ(got.body, "from the first");
  EXPECT_TRUE(eventually([&] { return hedges(proxy, "lost") == 1; }));
  // The connection of the attempt that lost is closed. The connection of the attempt that won returns to the
  // pool.
  EXPECT_TRUE(eventually([&] { return upstream.running() == 1; }));
}

TEST(ProxyHedges, fast_response_gets_no_hedge) {
  ScriptedUpstream upstream(play::responses({response(200, "fast")}));
  Wishes wishes = hedging();
  wishes.route.hedge->after = std::chrono::hours(1);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.ask(play::get(upstream.authority(), "/")).body, "fast");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyHedges, hedge_sends_the_same_bytes_as_the_first_attempt) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    if (peer.number == 1) {
      peer.socket.read_to_end();
    } else {
      peer.send(response(200, ""));
    }
  });
  RunningProxy proxy(hedging());
  const std::string body(10'000, 'b');
  EXPECT_EQ(proxy.client().ask(play::with_body("PUT", upstream.authority(), body)).status, 200);
  ASSERT_TRUE(eventually([&] { return heard.size() == 2; }));
  EXPECT_EQ(heard.at(0), heard.at(1));
  EXPECT_TRUE(heard.at(0).ends_with(body));
}

TEST(ProxyHedges, non_idempotent_request_is_not_hedged) {
  std::atomic<bool> may_answer{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    eventually([&] { return may_answer.load(); });
    peer.send(response(200, ""));
  });
  RunningProxy proxy(hedging());
  RawClient client = proxy.client();
  client.send(play::with_body("POST", upstream.authority(), "x"));
  ASSERT_TRUE(eventually([&] { return upstream.connections() == 1; }));
  // A refused hedge is counted only when its request ends. The hedge of the second request shows that a hedge
  // of the first request was due.
  RawClient other = proxy.client();
  other.send(play::get(upstream.authority(), "/"));
  ASSERT_TRUE(eventually([&] { return upstream.connections() == 3; })) << "one POST, two GETs";
  may_answer = true;
  EXPECT_EQ(client.read_response().status, 200);
  EXPECT_EQ(other.read_response().status, 200);
  EXPECT_TRUE(eventually([&] { return hedges(proxy, "refused") == 1; }));
  EXPECT_EQ(upstream.connections(), 3U);
}

TEST(ProxyHedges, M84_request_is_not_hedged_while_its_body_is_incomplete) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    peer.send(response(200, ""));
  });
  // Responds once the hedge of the second request has arrived. By then, a hedge of the first request would
  // have been due too.
  ScriptedUpstream slow([&](Peer& peer) {
    peer.read_request();
    eventually([&] { return slow.connections() == 2; });
    peer.send(response(200, ""));
  });
  Wishes wishes = hedging();
  wishes.route.hedge->after = milliseconds(1);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send("PUT http://" + upstream.authority() + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nwh");
  ASSERT_TRUE(eventually([&] { return upstream.connections() == 1; }));
  EXPECT_EQ(proxy.client().ask(play::with_body("PUT", slow.authority(), "whole")).status, 200);
  EXPECT_EQ(slow.connections(), 2U);
  EXPECT_EQ(upstream.connections(), 1U) << "no copy with half a body";
  client.send("ole");
  EXPECT_EQ(client.read_response().status, 200);
}

TEST(ProxyHedges, response_of_the_other_attempt_is_delivered_if_one_attempt_of_a_race_fails) {
  for (const unsigned failing : {1U, 2U}) {
    std::atomic<bool> failed{false};
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.read_request();
      eventually([&] { return upstream.connections() == 2; });
      if (peer.number == failing) {
        peer.send(response(503, "busy"));
        failed = true;
      } else {
        eventually([&] { return failed.load(); });
        peer.send(response(200, "good"));
      }
      peer.socket.read_to_end();
    });
    RunningProxy proxy(hedging());
    const WireResponse got = proxy.client().ask(play::get(upstream.authority(), "/"));
    EXPECT_EQ(got.body, "good");
    EXPECT_EQ(got.field("Reprise-Attempts"), "2");
    EXPECT_EQ(upstream.connections(), 2U);
  }
}

TEST(ProxyHedges, two_failed_attempts_are_retried_and_the_last_response_is_kept) {
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    if (peer.number > 2) return peer.socket.reset();
    eventually([&] { return upstream.connections() >= 2; });
    peer.send(response(503, "busy", "Connection: close\r\n"));
    peer.socket.read_to_end();
  });
  RunningProxy proxy(hedging());
  const WireResponse got = proxy.client().ask(play::get(upstream.authority(), "/"));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "busy");
  EXPECT_EQ(got.field("Reprise-Attempts"), "6");
  EXPECT_EQ(got.field("Reprise-Reason"), "attempts_spent");
  EXPECT_TRUE(eventually([&] { return hedges(proxy, "failed") == 1; }));
}

TEST(ProxyHedges, interim_responses_are_forwarded_only_from_the_first_attempt) {
  std::atomic<bool> passed{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 103 Early\r\nX-From: " + std::to_string(peer.number) + "\r\n\r\n");
    if (peer.number == 1) {
      peer.socket.read_to_end();
    } else {
      eventually([&] { return passed.load(); });
      peer.send(response(200, "ok"));
    }
  });
  RunningProxy proxy(hedging());
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority(), "/"));
  const WireResponse interim = client.read_response_without_body();
  EXPECT_EQ(interim.status, 103);
  EXPECT_EQ(interim.field("X-From"), "1");
  passed = true;
  EXPECT_EQ(client.read_response().status, 200);
}

TEST(ProxyHedges, client_reset_ends_both_attempts) {
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.socket.read_to_end();
  });
  RunningProxy proxy(hedging());
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority(), "/"));
  ASSERT_TRUE(eventually([&] { return upstream.connections() == 2; }));
  client.socket().reset();
  EXPECT_TRUE(eventually([&] { return upstream.running() == 0; }));
  EXPECT_TRUE(eventually([&] { return hedges(proxy, "cancelled") == 1; }));
}

TEST(ProxyHedges, D14_half_closed_client_gets_no_hedge) {
  EXPECT_TRUE(play::under_some_limit(milliseconds(50), [](milliseconds limit) {
    std::atomic<bool> may_answer{false};
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.read_request();
      eventually([&] { return may_answer.load(); });
      peer.send(response(200, "late"));
    });
    Wishes wishes = hedging();
    wishes.route.hedge->after = limit;
    RunningProxy proxy(std::move(wishes));
    RawClient client = proxy.client();
    client.send(play::get(upstream.authority(), "/"));
    client.socket().finish_sending();
    // A refused hedge is counted only when its request ends. The hedge of a second request shows that a hedge
    // of the first request was due.
    RawClient other = proxy.client();
    other.send(play::get(upstream.authority(), "/"));
    const bool judged = eventually([&] { return upstream.connections() >= 3; });
    may_answer = true;
    const bool responded = client.read_response().status == 200 && other.read_response().status == 200;
    eventually([&] {
      double told = 0;
      for (const char* outcome : {"won", "lost", "refused"}) told += std::max(hedges(proxy, outcome), 0.0);
      return told == 2;
    });
    return judged && responded && hedges(proxy, "refused") == 1;
  }));
}

TEST(ProxyHedges, shutdown_waits_for_both_attempts) {
  std::atomic<bool> may_answer{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    eventually([&] { return may_answer.load(); });
    peer.send(response(200, "late"));
    peer.socket.read_to_end();
  });
  RunningProxy proxy(hedging());
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority(), "/"));
  ASSERT_TRUE(eventually([&] { return upstream.connections() == 2; }));
  proxy.stop();
  may_answer = true;
  EXPECT_EQ(client.read_response().body, "late");
  proxy.join();
}

}  // namespace
}  // namespace reprise::server
