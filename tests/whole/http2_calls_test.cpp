// Tests gRPC calls through the whole proxy: which outcomes are retried, and what the client gets.
#include "tests/support/http2_end.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::http2_calls_test {
namespace {

using namespace play;

const FieldList call_fields{{"content-type", "application/grpc"}, {"te", "trailers"}};

std::string call_message(std::string_view bytes) {
  return std::string(1, '\0') + big_endian(bytes.size(), 4) + std::string(bytes);
}

/// Returns the status of a call, from its trailers or else from its head.
std::string status_of(const Http2Message& got) {
  return got.trailers.empty() ? got.field("grpc-status") : got.trailer("grpc-status");
}

/// One HEADERS frame with the status.
std::string trailers_only(std::int32_t stream, std::string_view status, const FieldList& more = {}) {
  FieldList fields{
      {":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", std::string(status)}};
  fields.insert(fields.end(), more.begin(), more.end());
  return headers(stream, fields, end_stream);
}

std::string begins(std::int32_t stream) {
  return headers(stream, {{":status", "200"}, {"content-type", "application/grpc"}});
}

std::string ends(std::int32_t stream, std::string_view status) {
  return headers(stream, {{"grpc-status", std::string(status)}}, end_stream);
}

std::string respond_with(std::int32_t stream, std::string_view bytes) {
  return begins(stream) + data(stream, call_message(bytes)) + ends(stream, "0");
}

/// Returns the frames of each response in turn; the last one repeats.
class Calls {
 public:
  using Step = std::function<std::string(std::int32_t)>;

  explicit Calls(std::vector<Step> steps) : steps_(std::move(steps)) {}
  std::string authority() const { return upstream_.authority(); }
  unsigned connections() const { return upstream_.connections(); }
  std::size_t requests() const { return heard_.size(); }
  /// Returns the fields of a request that concern the attempt, and its body.
  std::string request(std::size_t index) const { return heard_.at(index); }

 private:
  const std::vector<Step> steps_;
  std::atomic<std::size_t> next_{0};
  Heard heard_;
  ScriptedUpstream upstream_{for_each_request([this](Http2Upstream& end, std::int32_t stream) {
    const Http2Message& got = end.message(stream);
    heard_.add(got.field("grpc-previous-rpc-attempts") + "|" + got.field("grpc-timeout") + "|" + got.body);
    end.send(steps_[std::min(next_.fetch_add(1), steps_.size() - 1)](stream));
  })};
};

Calls::Step status(std::string_view word, const FieldList& more = {}) {
  return [word = std::string(word), more](std::int32_t stream) { return trailers_only(stream, word, more); };
}
std::string item(std::int32_t stream) { return respond_with(stream, "item"); }

/// Wishes for calls that may be repeated.
Wishes repeating() {
  Wishes wishes;
  wishes.route.idempotent.kind = policy::IdempotencyRule::Kind::always;
  return wishes;
}

/// A client that waits up to a minute for the status of a call.
Wishes holding() {
  Wishes wishes = repeating();
  wishes.route.hold.emplace();
  wishes.route.hold->time = seconds(60);
  return wishes;
}

Http2Message& call(Http2Client& client, std::string_view authority, const FieldList& more = {}) {
  FieldList fields = call_fields;
  fields.insert(fields.end(), more.begin(), more.end());
  return client.post(authority, call_message("id"), fields);
}

/// Sends the head of a call and its only message in two writes. Returns its stream.
std::int32_t begin_call(Http2Client& client, std::string_view authority) {
  const std::int32_t stream = client.begin(request_fields("POST", authority, "/x", call_fields));
  client.send(data(stream, call_message("id"), end_stream));
  return stream;
}

TEST(Http2Calls, M73_M74_listed_status_in_the_head_is_retried) {
  Calls upstream({status("14"), status("14"), item});
  RunningProxy proxy(repeating());
  Http2Client client(proxy.port());
  const auto& got = call(client, upstream.authority());
  EXPECT_EQ(status_of(got), "0");
  EXPECT_EQ(got.body, call_message("item"));
  EXPECT_EQ(got.field("reprise-attempts"), "3");
  ASSERT_EQ(upstream.requests(), 3U);
  EXPECT_EQ(upstream.request(2), "||" + call_message("id"));
}

TEST(Http2Calls, M72_status_in_trailers_that_follow_the_head_is_retried) {
  Calls upstream({[](auto stream) { return begins(stream) + ends(stream, "14"); }, item});
  RunningProxy proxy(holding());
  Http2Client client(proxy.port());
  const auto& got = call(client, upstream.authority());
  EXPECT_EQ(status_of(got), "0");
  EXPECT_EQ(got.field("reprise-attempts"), "2");
}

/// An upstream that sends the head of the first call, and the rest when the test permits it.
class LaterEnd {
 public:
  explicit LaterEnd(std::function<void(Http2Upstream&, std::int32_t)> ends) : ends_(std::move(ends)) {}
  std::string authority() const { return upstream_.authority(); }
  bool has_begun() {
    return play::eventually([&] { return begun_.load(); });
  }
  void permit() { is_permitted_ = true; }

 private:
  const std::function<void(Http2Upstream&, std::int32_t)> ends_;
  std::atomic<bool> begun_{false};
  std::atomic<bool> is_permitted_{false};
  ScriptedUpstream upstream_{for_each_request([this](Http2Upstream& end, std::int32_t stream) {
    if (begun_) return end.send(item(stream));
    end.send(begins(stream));
    begun_ = true;
    play::eventually([&] { return is_permitted_.load(); });
    ends_(end, stream);
  })};
};

TEST(Http2Calls, M72_head_of_a_repeatable_call_waits_for_the_status) {
  LaterEnd upstream([](Http2Upstream& end, std::int32_t stream) { end.send(ends(stream, "14")); });
  RunningProxy proxy(holding());
  Http2Client client(proxy.port());
  const std::int32_t stream = begin_call(client, upstream.authority());
  EXPECT_TRUE(upstream.has_begun());
  EXPECT_TRUE(client.turn());
  EXPECT_EQ(client.message(stream).status(), "") << "the head waits";
  upstream.permit();
  EXPECT_EQ(status_of(client.whole(stream)), "0");
  EXPECT_EQ(client.message(stream).field("reprise-attempts"), "2");
}

TEST(Http2Calls, M72_head_that_waits_is_followed_by_the_first_message) {
  LaterEnd upstream([](Http2Upstream& end, std::int32_t stream) {
    end.send(data(stream, call_message("item")) + ends(stream, "14"));
  });
  RunningProxy proxy(holding());
  Http2Client client(proxy.port());
  const std::int32_t stream = begin_call(client, upstream.authority());
  EXPECT_TRUE(upstream.has_begun());
  upstream.permit();
  const auto& got = client.whole(stream);
  EXPECT_EQ(got.body, call_message("item"));
  EXPECT_EQ(status_of(got), "14");
  EXPECT_EQ(got.field("reprise-attempts"), "1");
}

TEST(Http2Calls, M72_head_that_waits_is_delivered_after_the_time_to_hold) {
  LaterEnd upstream([](Http2Upstream& end, std::int32_t stream) { end.send(ends(stream, "14")); });
  Wishes wishes = holding();
  wishes.route.hold->time = milliseconds(20);
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const std::int32_t stream = begin_call(client, upstream.authority());
  EXPECT_EQ(client.head_of(stream).status(), "200");
  upstream.permit();
  EXPECT_EQ(status_of(client.whole(stream)), "14");
}

TEST(Http2Calls, M72_call_whose_upstream_breaks_while_the_head_waits_is_retried) {
  for (const bool whole_connection : {false, true}) {
    LaterEnd upstream([&](Http2Upstream& end, std::int32_t stream) {
      if (whole_connection) return end.socket().reset();
      end.send(rst_stream(stream, number_of(Http2Code::internal_error)));
    });
    Wishes wishes = holding();
    wishes.route.retry.on.truncated = true;
    RunningProxy proxy(std::move(wishes));
    Http2Client client(proxy.port());
    const std::int32_t stream = begin_call(client, upstream.authority());
    EXPECT_TRUE(upstream.has_begun());
    upstream.permit();
    const auto& got = client.whole(stream);
    EXPECT_EQ(status_of(got), "0");
    EXPECT_EQ(got.field("reprise-attempts"), "2");
  }
}

TEST(Http2Calls, M72_head_is_delivered_at_once_while_the_client_sends) {
  ScriptedUpstream upstream([](Peer& peer) {
    Http2Upstream end(peer.socket);
    const std::int32_t stream = end.next_head();
    end.send(begins(stream));
    end.until([&] { return !end.message(stream).body.empty(); });
    end.send(data(stream, call_message("answer")));
    end.whole(stream);
    end.send(ends(stream, "0"));
    end.read_to_end();
  });
  RunningProxy proxy(holding());
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin(request_fields("POST", upstream.authority(), "/x", call_fields));
  EXPECT_EQ(client.head_of(stream).status(), "200");
  client.send(data(stream, call_message("one")));
  EXPECT_TRUE(client.gets_body(stream, call_message("answer").size()));
  EXPECT_EQ(client.message(stream).body, call_message("answer"));
  client.send(data(stream, "", end_stream));
  EXPECT_EQ(status_of(client.whole(stream)), "0");
}

TEST(Http2Calls, M74_status_that_is_not_listed_is_delivered) {
  for (const std::string word : {"5", "17", "x", "014"}) {
    Calls upstream({status(word)});
    RunningProxy proxy(repeating());
    Http2Client client(proxy.port());
    const auto& got = call(client, upstream.authority());
    EXPECT_EQ(status_of(got), word);
    EXPECT_EQ(got.field("reprise-reason"), "not_retryable");
    EXPECT_EQ(upstream.requests(), 1U);
  }
}

TEST(Http2Calls, M74_call_that_must_not_be_repeated_keeps_its_status) {
  Calls upstream({status("14")});
  RunningProxy proxy(Wishes{});
  Http2Client client(proxy.port());
  const auto& got = call(client, upstream.authority());
  EXPECT_EQ(status_of(got), "14");
  EXPECT_EQ(got.field("reprise-reason"), "not_idempotent");
}

TEST(Http2Calls, M74_http_status_without_a_status_of_the_call_is_judged_by_itself) {
  Calls upstream({[](auto stream) { return headers(stream, {{":status", "503"}}, end_stream); }, item});
  RunningProxy proxy(repeating());
  Http2Client client(proxy.port());
  EXPECT_EQ(status_of(call(client, upstream.authority())), "0");
  EXPECT_EQ(upstream.requests(), 2U);
}

TEST(Http2Calls, M75_call_that_ends_after_its_first_message_is_never_retried) {
  Calls upstream(
      {[](auto stream) { return begins(stream) + data(stream, call_message("item")) + ends(stream, "14"); },
       item});
  RunningProxy proxy(holding());
  Http2Client client(proxy.port());
  const auto& got = call(client, upstream.authority());
  EXPECT_EQ(got.body, call_message("item"));
  EXPECT_EQ(status_of(got), "14");
  EXPECT_EQ(upstream.requests(), 1U);
}

TEST(Http2Calls, M76_pushback_decides_on_the_retry) {
  for (const auto& [pushback, requests] :
       std::vector<std::pair<std::string, std::size_t>>{{"0", 2}, {"10", 2}, {"-1", 1}, {"soon", 1}}) {
    Calls upstream({status("14", {{"grpc-retry-pushback-ms", pushback}}), item});
    RunningProxy proxy(repeating());
    Http2Client client(proxy.port());
    const auto& got = call(client, upstream.authority());
    EXPECT_EQ(upstream.requests(), requests) << pushback;
    EXPECT_EQ(status_of(got), requests == 2 ? "0" : "14");
  }
}

TEST(Http2Calls, M78_call_whose_stream_is_reset_between_messages_gets_the_same_code) {
  for (const auto& [code, expected] :
       std::vector<std::pair<Http2Code, Http2Code>>{{Http2Code::cancel, Http2Code::cancel},
                                                    {Http2Code::no_error, Http2Code::internal_error},
                                                    {Http2Code::refused_stream, Http2Code::internal_error}}) {
    Calls upstream({[code = code](auto stream) {
      return begins(stream) + data(stream, call_message("one")) + rst_stream(stream, number_of(code));
    }});
    RunningProxy proxy(repeating());
    Http2Client client(proxy.port());
    const auto& got = call(client, upstream.authority());
    EXPECT_EQ(got.reset, expected);
    EXPECT_FALSE(got.ended);
  }
}

/// Sends this after the head of the first call, and closes the connection.
ScriptedUpstream::Script cuts_after(std::string bytes) {
  return [bytes = std::move(bytes)](Peer& peer) {
    Http2Upstream end(peer.socket);
    if (const std::int32_t stream = end.next_request()) end.send(begins(stream) + data(stream, bytes));
  };
}

TEST(Http2Calls, M78_call_whose_connection_is_lost_between_messages_is_unavailable) {
  ScriptedUpstream upstream(cuts_after(call_message("one") + call_message("two")));
  RunningProxy proxy(repeating());
  Http2Client client(proxy.port());
  const auto& got = call(client, upstream.authority());
  EXPECT_EQ(status_of(got), "14");
  EXPECT_EQ(got.body, call_message("one") + call_message("two"));
  EXPECT_TRUE(got.ended);
}

TEST(Http2Calls, M78_message_that_is_cut_short_never_looks_whole) {
  ScriptedUpstream upstream(cuts_after(call_message("one") + call_message("two").substr(0, 7)));
  RunningProxy proxy(repeating());
  Http2Client client(proxy.port());
  const auto& got = call(client, upstream.authority());
  EXPECT_EQ(status_of(got), "");
  EXPECT_FALSE(got.ended);
  EXPECT_EQ(got.reset, Http2Code::internal_error);
}

TEST(Http2Calls, M80_failure_of_the_proxy_is_the_status_of_the_call) {
  const play::RefusingPort closed;
  Wishes wishes = repeating();
  wishes.route.retry.max_attempts = 2;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const auto& got = call(client, closed.authority());
  EXPECT_EQ(got.status(), "200");
  EXPECT_EQ(status_of(got), "14");
  EXPECT_TRUE(got.ended && got.trailers.empty() && got.body.empty());
  EXPECT_NE(got.field("grpc-message").find("attempt 2 of 2"), std::string::npos) << got.field("grpc-message");
}

TEST(Http2Calls, M21_call_never_goes_over_http_1) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.socket.read_more();
    peer.send(response(400, "what"));
  });
  Wishes wishes = repeating();
  wishes.route.retry.max_attempts = 1;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  EXPECT_EQ(status_of(call(client, upstream.authority())), "14");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(Http2Calls, M24_call_fails_on_a_route_without_http_2) {
  Calls upstream({item});
  Wishes wishes = repeating();
  wishes.route.http2 = policy::UseHttp2::never;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  EXPECT_EQ(status_of(call(client, upstream.authority())), "14");
  EXPECT_EQ(upstream.connections(), 0U);
}

TEST(Http2Calls, M86_M87_later_attempts_say_so_and_send_the_time_that_is_left) {
  Calls upstream({status("14"), item});
  Wishes wishes = repeating();
  wishes.route.attempt_header = true;
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  EXPECT_EQ(status_of(call(client, upstream.authority(), {{"grpc-timeout", "600S"}})), "0");
  ASSERT_EQ(upstream.requests(), 2U);
  EXPECT_TRUE(upstream.request(0).starts_with("|600S|")) << upstream.request(0);
  EXPECT_TRUE(upstream.request(1).starts_with("1|")) << upstream.request(1);
  EXPECT_EQ(upstream.request(1).find("|600S|"), std::string::npos) << upstream.request(1);
}

TEST(Http2Calls, M80_M87_call_whose_deadline_ends_before_a_connection_is_established_has_exceeded_it) {
  ScriptedUpstream upstream([](Peer& peer) { peer.socket.read_to_end(); });
  RunningProxy proxy(repeating());
  Http2Client client(proxy.port());
  EXPECT_EQ(status_of(call(client, upstream.authority(), {{"grpc-timeout", "200m"}})), "4");
}

TEST(Http2Calls, M81_messages_of_a_stream_are_sent_again_in_order_and_then_go_on) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    Http2Upstream end(peer.socket);
    const std::int32_t stream = end.next_head();
    if (stream == 0) return;
    if (peer.number == 1) {
      end.until([&] { return end.message(stream).body.size() >= call_message("one").size(); });
      end.send(rst_stream(stream, number_of(Http2Code::cancel)));
      end.read_to_end();
      return;
    }
    heard.add("begun");
    heard.add(end.whole(stream).body);
    end.send(respond_with(stream, "sum"));
    end.read_to_end();
  });
  RunningProxy proxy(repeating());
  Http2Client client(proxy.port());
  const std::int32_t stream = client.begin(request_fields("POST", upstream.authority(), "/x", call_fields));
  client.send(data(stream, call_message("one")));
  ASSERT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  client.send(data(stream, call_message("two"), end_stream));
  EXPECT_EQ(status_of(client.whole(stream)), "0");
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard.at(1), call_message("one") + call_message("two"));
}

TEST(Http2Calls, M84_hedge_of_a_call_wins_if_the_first_copy_is_silent) {
  ScriptedUpstream upstream([](Peer& peer) {
    Http2Upstream end(peer.socket);
    while (const std::int32_t stream = end.next_request())
      if (peer.number > 1) end.send(item(stream));
  });
  Wishes wishes = repeating();
  wishes.route.hedge.emplace();
  wishes.route.hedge->after = milliseconds(20);
  RunningProxy proxy(std::move(wishes));
  Http2Client client(proxy.port());
  const auto& got = call(client, upstream.authority());
  EXPECT_EQ(status_of(got), "0");
  EXPECT_EQ(got.body, call_message("item"));
}

}  // namespace
}  // namespace reprise::server::http2_calls_test
