// Tests responses that have a good status but an error in the body. They are retried before the client
// receives a byte (P20).
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using namespace std::chrono_literals;

const std::string overloaded = R"({"type":"error","error":{"type":"overloaded_error"}})";
const std::string json_type = "Content-Type: application/json\r\n";
const std::string stream_type = "Content-Type: text/event-stream\r\n";
const std::string error_event = "event: error\r\ndata: " + overloaded + "\r\n\r\n";

Wishes looking(const policy::BodyPredicate& predicate) {
  Wishes wishes;
  wishes.route.hold.emplace();
  wishes.route.hold->time = 1h;
  wishes.route.hold->body = {{"no-such-event", ""}, predicate};
  return wishes;
}

Wishes looking() { return looking({"", "error.type", {"overloaded_error"}}); }

double retries_for_bodies(const RunningProxy& proxy) {
  return proxy.metric("reprise_retries_total{route=\"default\",reason=\"retryable_body\"}");
}

// Covers counted, chunked and close-delimited bodies, as JSON and as event streams.
class BodyFraming : public ::testing::TestWithParam<std::string> {};
TEST_P(BodyFraming, P20_error_body_is_retried_twice_until_a_good_response) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    if (peer.number < 3) {
      peer.socket.send_bytewise(GetParam());
    } else {
      peer.send(response(200, "good"));
    }
  });
  RunningProxy proxy(looking());
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "good");
  EXPECT_EQ(got.field("Reprise-Attempts"), "3");
  EXPECT_EQ(got.field("Reprise-Reason"), "");
  EXPECT_EQ(retries_for_bodies(proxy), 2);
  EXPECT_EQ(proxy.metric("reprise_recovered_total{route=\"default\"}"), 1);
}
INSTANTIATE_TEST_SUITE_P(
    ProxyHold, BodyFraming,
    ::testing::Values(response(200, overloaded, json_type + "Connection: close\r\n"),
                      response(400, overloaded, "Connection: close\r\n"),
                      "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n" + json_type +
                          "\r\n5\r\n" + overloaded.substr(0, 5) + "\r\n2f\r\n" + overloaded.substr(5) +
                          "\r\n0\r\nX-Sum: 1\r\n\r\n",
                      "HTTP/1.1 200 OK\r\n" + json_type + "\r\n" + overloaded,
                      response(200, error_event, stream_type + "Connection: close\r\n"),
                      "HTTP/1.1 200 OK\r\n" + stream_type + "\r\n: hello\n\n" + error_event + "event: more\n",
                      "HTTP/1.1 200 OK\r\n" + stream_type + "\r\ndata: " + overloaded + "\n\n"));

// The error is the first event of the stream. The retry does not wait for the end of the stream.
TEST(ProxyBodyPredicate, first_event_of_a_stream_is_enough_to_retry) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    if (peer.number > 1) return peer.send(response(200, "good"));
    peer.send("HTTP/1.1 200 OK\r\n" + stream_type + "\r\n" + error_event);
    peer.socket.read_to_end();
  });
  Wishes wishes = looking({"error", ""});
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "good");
  EXPECT_EQ(retries_for_bodies(proxy), 1);
}

// Covers errors hidden behind a status above 399, in a body or in a header.
class HiddenError : public ::testing::TestWithParam<std::string> {};
TEST_P(HiddenError, error_hidden_in_a_400_response_is_retried) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    if (peer.number > 1) return peer.send(response(200, "good"));
    peer.socket.send_bytewise(GetParam());
    peer.socket.read_to_end();
  });
  Wishes wishes = looking({.json = "__type", .value = {.matches = {"*Throttling*"}}, .status = {{400, 400}}});
  wishes.route.hold->body.push_back({.value = {.matches = {"Throttling"}}, .xml = "Error.Code"});
  wishes.route.hold->body.push_back({.value = {.matches = {"Throttling*"}}, .header = "x-amzn-errortype"});
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "good");
  EXPECT_EQ(retries_for_bodies(proxy), 1);
}
INSTANTIATE_TEST_SUITE_P(
    ProxyHold, HiddenError,
    ::testing::Values(
        response(400, R"({"__type":"x#ThrottlingException"})",
                 "Connection: close\r\nContent-Type: application/x-amz-json-1.0\r\n"),
        response(400, "<Error><Code>Throttling</Code></Error>",
                 "Connection: close\r\nContent-Type: text/xml\r\n"),
        response(403, "<Error><Code>Throttling</Code></Error>", "Connection: close\r\n"),
        "HTTP/1.1 400 Bad Request\r\nX-Amzn-ErrorType: ThrottlingException:x\r\nContent-Length: 9\r\n\r\n"));

// A response that matches no predicate and is passed on unchanged.
struct Passed {
  std::string name;
  std::string text;
  std::string body;
};

class BodyPassed : public ::testing::TestWithParam<Passed> {};
TEST_P(BodyPassed, unmatched_body_is_delivered_unchanged_at_the_first_attempt) {
  ScriptedUpstream upstream(play::responses({GetParam().text}));
  Wishes wishes = looking();
  wishes.route.hold->bytes = 60;
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_TRUE(got.whole);
  EXPECT_EQ(got.body, GetParam().body);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(retries_for_bodies(proxy), -1);
}

std::vector<Passed> passed() {
  const std::string other = R"({"error":{"type":"invalid_request_error"}})";
  const std::string longer = overloaded + std::string(20, ' ');
  const std::string later = "data: {}\n\n" + error_event;
  return {
      {"another_error", response(200, other, json_type), other},
      {"not_json", response(200, overloaded, "Content-Type: text/plain\r\n"), overloaded},
      {"coded", response(200, overloaded, json_type + "Content-Encoding: gzip\r\n"), overloaded},
      {"longer_than_may_be_looked_at", response(200, longer, json_type), longer},
      {"an_event_without_a_stream", response(200, error_event, json_type), error_event},
      {"in_a_later_event", response(200, later, stream_type), later},
      {"an_event_that_is_not_complete",
       response(200, error_event.substr(0, error_event.size() - 2), stream_type),
       error_event.substr(0, error_event.size() - 2)},
  };
}
INSTANTIATE_TEST_SUITE_P(ProxyHold, BodyPassed, ::testing::ValuesIn(passed()),
                         [](const auto& instance) { return instance.param.name; });

TEST(ProxyBodyPredicate, D1_post_with_an_error_body_is_delivered_without_a_retry) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, overloaded, json_type));
    }
  });
  RunningProxy proxy(looking());
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::with_body("POST", upstream.authority(), "order"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, overloaded);
  EXPECT_EQ(got.field("Reprise-Reason"), "not_idempotent");
  EXPECT_EQ(heard.size(), 1U);
}

TEST(ProxyBodyPredicate, stream_that_is_not_retried_continues_after_its_first_event) {
  const std::string all = error_event + "event: more\ndata: x\n\n";
  ScriptedUpstream upstream([&](Peer& peer) {
    if (peer.read_request().empty()) return;
    peer.send("HTTP/1.1 200 OK\r\n" + stream_type + "Content-Length: " + std::to_string(all.size()) +
              "\r\n\r\n");
    peer.socket.send_bytewise(all);
  });
  RunningProxy proxy(looking());
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::with_body("POST", upstream.authority(), "order"));
  EXPECT_TRUE(got.whole);
  EXPECT_EQ(got.body, all);
}

TEST(ProxyBodyPredicate, response_matched_by_a_predicate_is_delivered_if_the_last_attempt_fails) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (peer.read_request().empty()) return;
    if (peer.number == 1)
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 52\r\nConnection: close\r\n" + json_type + "\r\n" +
                overloaded);
  });
  ASSERT_EQ(overloaded.size(), 52U);
  Wishes wishes = looking();
  wishes.route.retry.max_attempts = 2;
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, overloaded);
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  EXPECT_EQ(got.field("Reprise-Reason"), "attempts_spent");
  EXPECT_EQ(proxy.metric("reprise_recovered_total{route=\"default\"}"), 0) << "nothing was won";
}

TEST(ProxyBodyPredicate, response_with_a_body_over_the_kept_response_limit_is_not_kept) {
  ScriptedUpstream upstream([](Peer& peer) {
    if (!peer.read_request().empty() && peer.number == 1)
      peer.send(response(200, overloaded, json_type + "Connection: close\r\n"));
  });
  Wishes wishes = looking();
  wishes.route.retry.max_attempts = 2;
  wishes.settings.limits.kept_response_bytes = 51;
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 502);
}

TEST(ProxyBodyPredicate, observe_mode_counts_and_delivers_the_error_body) {
  ScriptedUpstream upstream(play::responses({response(200, overloaded, json_type)}));
  Wishes wishes = looking();
  wishes.route.mode = policy::Mode::observe;
  RunningProxy proxy(wishes);
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.body, overloaded);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(got.field("Reprise-Reason"), "observe_only");
}

}  // namespace
}  // namespace reprise::server
