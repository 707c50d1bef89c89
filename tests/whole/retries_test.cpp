// Tests retries through the whole proxy: what is sent again, from which byte, on which connection, and what
// the client gets.
#include <algorithm>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/net/io/task.hpp"
#include "tests/support/names.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

Wishes attempts(unsigned most) {
  Wishes wishes;
  wishes.route.retry.max_attempts = most;
  return wishes;
}

TEST(ProxyRetries, D2_every_attempt_sends_the_same_bytes) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      if (heard.size() == 2) return peer.socket.reset();
      peer.send(heard.size() < 4 ? response(503, "busy") : response(200, "done"));
    }
  });
  RunningProxy proxy;
  const WireResponse got = proxy.client().ask(play::with_body(
      "PUT", upstream.authority(), std::string(3000, 'b'), "Authorization: x\r\nx-odd:  1\r\n"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "done");
  EXPECT_EQ(got.field("Reprise-Attempts"), "4");
  ASSERT_EQ(heard.size(), 4U);
  EXPECT_NE(heard.at(0).find("\r\nx-odd:  1\r\n"), std::string::npos);
  EXPECT_TRUE(heard.at(0).ends_with(std::string(3000, 'b')));
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(heard.at(i), heard.at(0));
  const auto via = heard.at(0).find("\r\nVia: ");  // row D3: exactly one Via
  EXPECT_EQ(heard.at(0).find("\r\nVia: ", via + 1), std::string::npos);
}

TEST(ProxyRetries, D2_only_the_optional_attempt_header_differs_between_attempts) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(heard.size() < 3 ? response(503, "") : response(200, ""));
    }
  });
  Wishes wishes;
  wishes.route.attempt_header = true;
  RunningProxy proxy(std::move(wishes));
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).status, 200);
  ASSERT_EQ(heard.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string line = "Reprise-Attempt: " + std::to_string(i + 1) + "\r\n";
    std::string head = heard.at(i);
    ASSERT_NE(head.find(line), std::string::npos) << head;
    head.erase(head.find(line), line.size());
    std::string first = heard.at(0);
    first.erase(first.find("Reprise-Attempt: 1\r\n"), 20);
    EXPECT_EQ(head, first);
  }
}

TEST(ProxyRetries, D1_post_is_sent_once_and_the_upstream_error_is_delivered) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    peer.send(response(503, "the upstream's own words", "X-Mine: 1\r\n"));
  });
  RunningProxy proxy;
  const WireResponse got = proxy.client().ask(play::with_body("POST", upstream.authority(), "once"));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "the upstream's own words");
  EXPECT_EQ(got.field("X-Mine"), "1");
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
  EXPECT_EQ(heard.size(), 1U);
}

TEST(ProxyRetries, K4_earlier_response_is_delivered_if_all_later_attempts_are_reset) {
  std::atomic<int> asked{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    if (++asked == 1) {
      peer.send(response(503, "kept", "X-First: 1\r\n"));
    } else {
      peer.socket.reset();
    }
  });
  RunningProxy proxy(attempts(3));
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "kept");
  EXPECT_EQ(got.field("X-First"), "1");
  EXPECT_GE(std::stoi(got.field("Reprise-Attempts")), 3);
  EXPECT_EQ(got.field("Reprise-Reason"), "attempts_spent");
  EXPECT_NE(got.field("Proxy-Status").find("received-status=503"), std::string::npos);

  ScriptedUpstream better(play::responses({response(503, "kept", "X-First: 1\r\n"), response(200, "good")}));
  const WireResponse other = proxy.client().ask(play::get(better.authority()));
  EXPECT_EQ(other.status, 200);
  EXPECT_EQ(other.body, "good");
  EXPECT_FALSE(other.has("X-First"));
}

TEST(ProxyRetries, kept_response_keeps_its_chunked_body_and_trailers) {
  std::atomic<int> asked{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    if (++asked > 1) return peer.socket.reset();
    peer.send(
        "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nke\r\n2\r\npt\r\n0\r\nX-T: 1\r\n\r\n");
  });
  RunningProxy proxy(attempts(2));
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "keptX-T: 1\r\n");
  EXPECT_TRUE(got.whole);
}

TEST(ProxyRetries, response_above_the_limit_is_not_kept) {
  for (const std::size_t bytes : {1000U, 1001U}) {
    std::atomic<int> asked{0};
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.read_request();
      if (++asked > 1) return peer.socket.reset();
      peer.send(response(503, std::string(bytes, 'k')));
      peer.read_request();
      peer.socket.reset();
    });
    Wishes wishes = attempts(2);
    wishes.settings.limits.kept_response_bytes = 1000;
    RunningProxy proxy(std::move(wishes));
    const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
    EXPECT_EQ(got.status, bytes == 1000 ? 503 : 502);
    EXPECT_EQ(got.body == std::string(bytes, 'k'), bytes == 1000);
    EXPECT_TRUE(got.whole);
  }
}

TEST(ProxyRetries, response_body_that_never_ends_does_not_delay_the_retry) {
  std::atomic<int> asked{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    if (++asked > 1) return peer.send(response(200, "good"));
    peer.send("HTTP/1.1 503 No\r\nContent-Length: 10\r\n\r\nhalf");
    peer.socket.read_to_end();
  });
  RunningProxy proxy;
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).body, "good");
}

TEST(ProxyRetries, D5_body_is_replayed_up_to_the_limit_and_not_beyond) {
  constexpr std::size_t limit = 40'000;
  for (const std::size_t bytes : {limit - 1, limit, limit + 1}) {
    for (const bool chunked : {false, true}) {
      Heard heard;
      ScriptedUpstream upstream([&](Peer& peer) {
        for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
          heard.add(got);
          peer.send(heard.size() == 1 ? response(503, "busy") : response(200, "done"));
        }
      });
      Wishes wishes;
      wishes.route.replay_memory_bytes = limit;
      wishes.route.replay_disk_bytes = 0;
      RunningProxy proxy(std::move(wishes));
      const std::string body(bytes, 'b');
      std::string request = play::with_body("PUT", upstream.authority(), body);
      if (chunked) {
        request = "PUT http://" + upstream.authority() + "/ HTTP/1.1\r\nHost: " + upstream.authority() +
                  "\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nb\r\n";
        http::write_chunk_size(bytes - 1, request);
        request += body.substr(1) + "\r\n0\r\n\r\n";
      }
      const WireResponse got = proxy.client().ask(request);
      const bool held = bytes <= limit;
      EXPECT_EQ(got.status, held ? 200 : 503) << bytes;
      EXPECT_EQ(got.field("Reprise-Reason"), held ? "" : "not_replayable") << bytes;
      ASSERT_EQ(heard.size(), held ? 2U : 1U);
      for (std::size_t i = 0; i < heard.size(); ++i) {
        const std::string message = heard.at(i);
        EXPECT_EQ(static_cast<std::size_t>(std::count(message.begin(), message.end(), 'b')) >= bytes, true);
        EXPECT_TRUE(chunked || message.ends_with("\r\n\r\n" + body)) << bytes;
      }
      EXPECT_EQ(proxy.metric("reprise_replay_bytes{store=\"memory\"}"), 0);
    }
  }
}

TEST(ProxyRetries, D4_body_arriving_during_the_wait_is_sent_once_and_in_order) {
  Heard heard;
  std::atomic<bool> first_refused{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    if (peer.number == 1) {
      peer.read_head();
      first_refused = true;
      return peer.socket.reset();
    }
    heard.add(peer.read_request());
    peer.send(response(200, "done"));
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  const std::string request = play::with_body("PUT", upstream.authority(), "0123456789");
  client.send(request.substr(0, request.size() - 10));
  ASSERT_TRUE(play::eventually([&] { return first_refused.load(); }));
  client.socket().send_bytewise("0123456789");
  EXPECT_EQ(client.read_response().status, 200);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(heard.at(0).ends_with("\r\n\r\n0123456789"));
}

TEST(ProxyRetries, D10_stale_connection_is_retried_at_once_and_only_once) {
  std::atomic<bool> dying{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      if (dying) return peer.socket.reset();
      peer.send(response(200, "fine"));
    }
  });
  Wishes wishes = attempts(1);  // a stale connection is retried although max_attempts is 1
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
  dying = true;
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 502);
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  EXPECT_EQ(got.field("Reprise-Reason"), "attempts_spent");
  EXPECT_EQ(upstream.connections(), 2U);
}

TEST(ProxyRetries, D10_stale_connection_is_invisible_to_the_client) {
  std::atomic<int> asked{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      if (++asked == 2) return;
      peer.send(response(200, "fine"));
    }
  });
  RunningProxy proxy(attempts(1));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
}

TEST(ProxyRetries, D10_post_on_a_connection_that_dies_is_not_retried) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      if (heard.size() == 2) return peer.socket.reset();
      peer.send(response(200, "fine"));
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::with_body("POST", upstream.authority(), "x")).status, 200);
  const WireResponse got = client.ask(play::with_body("POST", upstream.authority(), "x"));
  EXPECT_EQ(got.status, 502);
  EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
  EXPECT_EQ(heard.size(), 2U);
}

TEST(ProxyRetries, D11_response_421_on_a_reused_connection_is_retried_once_on_a_fresh_one) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    unsigned served = 0;
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(++served == 1 ? response(200, "fine") : response(421, "misdirected"));
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  WireResponse got;
  // A POST reuses only a connection that has been idle for less than a second, so a slow machine may need
  // several tries.
  const bool reused = play::eventually([&] {
    EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
    got = client.ask(play::with_body("POST", upstream.authority(), "body"));
    return got.field("Reprise-Attempts") == "2";
  });
  ASSERT_TRUE(reused) << got.head;
  EXPECT_EQ(got.status, 200);
  EXPECT_GE(upstream.connections(), 2U);
  const std::size_t last = heard.size() - 1;
  EXPECT_TRUE(heard.at(last).starts_with("POST "));
  EXPECT_EQ(heard.at(last - 1), heard.at(last));
}

TEST(ProxyRetries, D11_response_421_on_a_fresh_connection_is_delivered) {
  ScriptedUpstream upstream(play::responses({response(421, "misdirected")}));
  RunningProxy proxy;
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 421);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
}

TEST(ProxyRetries, any_method_is_retried_while_no_byte_was_sent) {
  const play::RefusingPort closed;
  RunningProxy proxy(attempts(3));
  const WireResponse got = proxy.client().ask(play::with_body("POST", closed.authority(), "body"));
  EXPECT_EQ(got.status, 502);
  EXPECT_EQ(got.field("Reprise-Attempts"), "3");
  EXPECT_EQ(got.field("Reprise-Reason"), "attempts_spent");
  EXPECT_NE(got.field("Proxy-Status").find("connection_refused"), std::string::npos);
}

TEST(ProxyRetries, unresolvable_name_gives_502) {
  RunningProxy proxy(attempts(2));
  const WireResponse none = proxy.client().ask(play::get("none.test"));
  EXPECT_EQ(none.status, 502);
  EXPECT_NE(none.field("Proxy-Status").find("dns_error"), std::string::npos);
}

TEST(ProxyRetries, hanging_lookup_gives_504_after_connect_timeout) {
  play::Names names;
  names.hold_back("dead.test");
  Wishes wishes = attempts(2);
  wishes.route.connect_timeout = milliseconds(100);
  wishes.query = names.query();
  RunningProxy proxy(std::move(wishes));
  const WireResponse late = proxy.client().ask(play::get("dead.test"));
  EXPECT_EQ(late.status, 504);
  EXPECT_NE(late.field("Proxy-Status").find("dns_timeout"), std::string::npos);
}

TEST(ProxyRetries, D9_attempt_timeout_closes_the_attempt_before_the_next_one) {
  std::atomic<bool> first_over{false};
  std::atomic<bool> in_order{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    if (peer.number == 1) {
      peer.socket.read_to_end();
      first_over = true;
      return;
    }
    in_order = play::eventually([&] { return first_over.load(); });
    peer.send(response(200, "second"));
  });
  // On a slow machine the second attempt may exceed attempt_timeout too. Further attempts then follow.
  Wishes wishes = attempts(10'000);
  wishes.route.budget.reset();
  wishes.route.retry.attempt_timeout = milliseconds(150);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(play::eventually([&] { return first_over.load(); }));
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.status, 200);
  EXPECT_TRUE(in_order);
}

TEST(ProxyRetries, post_is_ended_by_response_timeout_and_not_by_attempt_timeout) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    peer.socket.read_to_end();
  });
  Wishes wishes;
  wishes.route.retry.attempt_timeout = milliseconds(50);
  wishes.route.response_timeout = milliseconds(400);
  RunningProxy proxy(std::move(wishes));
  const auto before = std::chrono::steady_clock::now();
  const WireResponse got = proxy.client().ask(play::with_body("POST", upstream.authority(), "x"));
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(400));
  EXPECT_EQ(got.status, 504);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
  EXPECT_NE(got.field("Proxy-Status").find("http_response_timeout"), std::string::npos);
}

TEST(ProxyRetries, D13_pipelined_requests_keep_their_order_while_the_first_is_retried) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got.substr(0, got.find(" HTTP")));
      const bool busy = heard.size() < 3;
      peer.send(busy ? response(503, "busy") : response(200, got.substr(0, got.find(" HTTP"))));
    }
  });
  Wishes wishes;
  wishes.route.retry.backoff.initial = milliseconds(30);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority(), "/1") + play::with_body("POST", upstream.authority(), "p") +
              play::get(upstream.authority(), "/3"));
  EXPECT_EQ(client.read_response().body, "GET /1");
  EXPECT_EQ(client.read_response().body, "POST /");
  EXPECT_EQ(client.read_response().body, "GET /3");
  ASSERT_EQ(heard.size(), 5U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(heard.at(i), "GET /1");
  EXPECT_EQ(heard.at(3), "POST /");
}

}  // namespace
}  // namespace reprise::server
