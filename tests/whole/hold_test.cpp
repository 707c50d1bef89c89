// Tests held responses through the whole proxy: no byte reaches the client before the commit point, and a
// break or an error before the commit point is retried. Tests in which time must not end the hold set the
// hold time to one hour, so that they do not depend on the speed of the machine.
#include <atomic>

#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using namespace std::chrono_literals;
using play::eventually;

const std::string overloaded =
    R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})";
const policy::BodyPredicate is_overloaded{"", "error.type", {"overloaded_error"}};
const std::string json_type = "Content-Type: application/json\r\n";
const std::string stream_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string chunk(const std::string& data) {
  std::string size;
  for (std::size_t left = data.size(); left > 0; left /= 16) size.insert(0, 1, "0123456789abcdef"[left % 16]);
  return size + "\r\n" + data + "\r\n";
}

Wishes holding(std::size_t bytes) {
  Wishes wishes;
  wishes.route.hold.emplace();
  wishes.route.hold->bytes = bytes;
  wishes.route.hold->time = 1h;
  wishes.route.retry.on.truncated = true;
  return wishes;
}

Wishes looking(const policy::BodyPredicate& predicate = is_overloaded) {
  Wishes wishes = holding(0);
  wishes.route.hold->body = {predicate};
  return wishes;
}

/// A flag that one thread sets and another waits for.
class Flag {
 public:
  void raise() { raised_ = true; }
  bool wait() {
    return eventually([this] { return raised_.load(); });
  }

 private:
  std::atomic<bool> raised_{false};
};

/// Responds to the 1st, 3rd, 5th... request with ever longer prefixes of `text`, and to the others with
/// `good`. Each request has its own connection.
ScriptedUpstream::Script broken_at_every_byte(const std::string& text, const std::string& good,
                                              std::atomic<std::size_t>& requests) {
  return [text, good, &requests](Peer& peer) {
    if (peer.read_request().empty()) return;
    const std::size_t number = requests++;
    peer.send(number % 2 == 0 ? text.substr(0, number / 2) : good);
  };
}

class HoldFraming : public ::testing::TestWithParam<std::string> {};
TEST_P(HoldFraming, held_response_cut_at_any_byte_is_retried) {
  const std::string& text = GetParam();
  const std::string good = response(200, "good", "Connection: close\r\n");
  std::atomic<std::size_t> requests{0};
  ScriptedUpstream upstream(broken_at_every_byte(text, good, requests));
  Wishes wishes = holding(1024);
  wishes.route.budget.reset();
  RunningProxy proxy(wishes);
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    RawClient client = proxy.client();
    const WireResponse got = client.ask(play::get(upstream.authority()));
    ASSERT_EQ(got.body, "good") << "after " << cut << " bytes";
    EXPECT_EQ(got.field("Reprise-Attempts"), "2");
    EXPECT_EQ(requests, 2 * cut + 2);
  }
}
INSTANTIATE_TEST_SUITE_P(ProxyHold, HoldFraming,
                         ::testing::Values("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nbroken",
                                           "HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n"
                                           "3\r\nbro\r\n3\r\nken\r\n0\r\nX-Sum: 1\r\n\r\n"));

TEST(ProxyHold, reset_in_a_held_body_is_retried) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    if (peer.number > 1) return peer.send(response(200, "good"));
    peer.send("HTTP/1.1 200 OK\r\n\r\nto the end");
    peer.socket.reset();
  });
  RunningProxy proxy(holding(1024));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "good");
  EXPECT_EQ(proxy.metric("reprise_attempts_total{route=\"default\",outcome=\"truncated\"}"), 1);
  EXPECT_EQ(proxy.metric("reprise_retries_total{route=\"default\",reason=\"retryable_failure\"}"), 1);
}

TEST(ProxyHold, break_after_the_held_part_is_not_retried) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.read_request().empty()) peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123456");
  });
  RunningProxy proxy(holding(4));
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 200);
  EXPECT_FALSE(got.whole);
  EXPECT_EQ(got.body, "123456");
  EXPECT_EQ(got.field("Reprise-Reason"), "");
  EXPECT_EQ(client.socket().wire(), Wire::fin);
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyHold, broken_held_body_is_delivered_as_received_if_retry_on_does_not_list_truncated) {
  for (const std::string text : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
                                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n12345"}) {
    ScriptedUpstream upstream([&](Peer& peer) {
      if (!peer.read_request().empty()) peer.send(text);
    });
    Wishes wishes = holding(1024);
    wishes.route.retry.on.truncated = false;
    RunningProxy proxy(wishes);
    RawClient client = proxy.client();
    const WireResponse got = client.ask(play::get(upstream.authority()));
    EXPECT_EQ(got.status, 200);
    EXPECT_FALSE(got.whole);
    EXPECT_EQ(got.body, "12345");
    EXPECT_EQ(got.field("Reprise-Reason"), "not_retryable");
    EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
    EXPECT_EQ(upstream.connections(), 1U);
    EXPECT_TRUE(eventually(
        [&] { return proxy.metric("reprise_requests_total{route=\"default\",code=\"cut\"}") == 1; }));
  }
}

TEST(ProxyHold, broken_held_body_of_a_post_is_delivered) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.read_request().empty()) peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
  });
  RunningProxy proxy(holding(1024));
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::with_body("POST", upstream.authority(), "order"));
  EXPECT_FALSE(got.whole);
  EXPECT_EQ(got.body, "12345");
  EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyHold, earlier_response_is_delivered_if_a_later_held_body_breaks) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    if (peer.number == 1) peer.send(response(503, "later", "Connection: close\r\n"));
    if (peer.number == 2) peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345");
  });
  Wishes wishes = holding(1024);
  wishes.route.retry.max_attempts = 3;
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "later");
  EXPECT_EQ(got.field("Reprise-Attempts"), "3");
}

TEST(ProxyHold, small_held_body_is_sent_with_its_head_in_one_write) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.read_request().empty())
      peer.socket.send_bytewise(
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\nX-Sum: "
          "7\r\n\r\n");
  });
  RunningProxy proxy(holding(1024));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(client.socket().read_more());
  EXPECT_TRUE(client.socket().received().ends_with("6\r\nabcdef\r\n0\r\nX-Sum: 7\r\n\r\n"))
      << client.socket().received();
}

TEST(ProxyHold, body_longer_than_the_hold_limit_continues_after_the_held_part) {
  std::string body;
  for (int i = 0; i < 40'000; ++i) body += std::to_string(i);
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      for (std::size_t at = 0; at < body.size(); at += 777) peer.send(chunk(body.substr(at, 777)));
      peer.send("0\r\n\r\n");
      if (!peer.read_request().empty()) peer.send(response(200, body));
    }
  });
  RunningProxy proxy(holding(1000));
  RawClient client = proxy.client();
  for (int i = 0; i < 4; ++i) {
    const WireResponse got = client.ask(play::get(upstream.authority()));
    EXPECT_TRUE(got.whole);
    EXPECT_TRUE(got.body == body);
  }
  EXPECT_EQ(upstream.connections(), 1U);
}

// One way in which a hold ends: by bytes, by the first event, by time, by the deadline, or at once. The
// upstream sends `rest` only after the client has received the released part.
struct Release {
  std::string name;
  Wishes wishes;
  std::string head;
  std::string first;
  std::string rest;
};

std::vector<Release> releases() {
  const std::string counted = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n";
  const std::string event = chunk("event: ping\ndata: {}\n\n");
  const std::string done = chunk("data: done\n\n") + "0\r\n\r\n";
  std::vector<Release> all{
      {"by_bytes", holding(3), counted, "abc", "def"},
      {"by_the_first_event", looking(), stream_head, event, done},
      {"by_the_first_event_before_the_bytes", holding(1000), stream_head, event, done},
      {"by_time", holding(1000), counted, "abc", "def"},
      {"by_time_without_a_byte", holding(1000), counted, "", "abcdef"},
      {"by_time_of_a_quiet_stream", looking(), stream_head, chunk(": quiet\n\n"), event + done},
      {"by_the_deadline", holding(1000), counted, "abc", "def"},
      {"at_once_where_off", holding(1000), counted, "abc", "def"},
      {"at_once_where_nothing_can_match", looking(),
       "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 6\r\n\r\n", "abc", "def"},
      {"at_once_where_too_long_to_match", looking(), "HTTP/1.1 200 OK\r\nContent-Length: 16390\r\n\r\n",
       "abc", std::string(16387, 'd')},
  };
  for (std::size_t i : {3U, 4U, 5U}) all[i].wishes.route.hold->time = 1ms;
  all[6].wishes.route.retry.deadline = 1ms;
  all[7].wishes.route.mode = policy::Mode::off;
  return all;
}

class HoldRelease : public ::testing::TestWithParam<Release> {};
TEST_P(HoldRelease, held_part_is_released_before_the_rest_arrives) {
  const Release& release = GetParam();
  Flag seen;
  ScriptedUpstream upstream([&](Peer& peer) {
    if (peer.read_request().empty()) return;
    peer.send(release.head + release.first);
    if (seen.wait()) peer.send(release.rest);
  });
  RunningProxy proxy(release.wishes);
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  EXPECT_TRUE(client.socket().read_until("\r\n\r\n" + release.first)) << client.socket().received();
  seen.raise();
  EXPECT_TRUE(client.read_response().whole);
  EXPECT_EQ(upstream.connections(), 1U);
}
INSTANTIATE_TEST_SUITE_P(ProxyHold, HoldRelease, ::testing::ValuesIn(releases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(ProxyHold, stalled_held_body_is_retried_after_idle_timeout) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    if (peer.number > 1) return peer.send(response(200, "good"));
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
    peer.socket.read_to_end();
  });
  Wishes wishes = holding(1000);
  wishes.route.idle_timeout = 1ms;
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "good");
}

TEST(ProxyHold, client_reset_ends_the_hold) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
    peer.socket.read_to_end();
  });
  RunningProxy proxy(holding(1000));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(eventually([&] { return upstream.running() == 1; }));
  client.socket().reset();
  EXPECT_TRUE(eventually([&] { return upstream.running() == 0; }));
  EXPECT_TRUE(eventually(
      [&] { return proxy.metric("reprise_requests_total{route=\"default\",code=\"client_gone\"}") == 1; }));
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyHold, D13_pipelined_requests_get_their_responses_in_order) {
  ScriptedUpstream upstream(play::responses({response(200, "one"), response(200, overloaded, json_type),
                                             response(200, "two"), response(200, "three")}));
  Wishes wishes = looking();
  wishes.route.hold->bytes = 1024;
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  const std::string one = play::get(upstream.authority());
  client.send(one + one + one);
  for (const char* body : {"one", "two", "three"}) EXPECT_EQ(client.read_response().body, body);
}

TEST(ProxyHold, responses_without_a_body_are_not_held) {
  for (const std::string text :
       {"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n",
        "HTTP/1.1 304 Same\r\nContent-Length: 50\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}) {
    ScriptedUpstream upstream(play::responses({text}));
    RunningProxy proxy(holding(1000));
    RawClient client = proxy.client();
    std::string request = play::get(upstream.authority());
    if (text.starts_with("HTTP/1.1 200")) request.replace(0, 3, "HEAD");
    for (int i = 0; i < 3; ++i) {
      client.send(request);
      EXPECT_EQ(client.read_response_without_body().status, std::stoi(text.substr(9, 3)));
    }
    EXPECT_EQ(upstream.connections(), 1U);
  }
}

}  // namespace
}  // namespace reprise::server
