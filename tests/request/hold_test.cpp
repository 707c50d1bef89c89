// Tests keep_response() alone: what ends it, which bytes remain to be read, and where the connection goes.
#include "proxy/forward/request/hold.hpp"
#include "proxy/http/http1/parse.hpp"

#include <cstring>
#include <thread>

#include "tests/support/loopback.hpp"
#include "tests/support/metrics.hpp"

namespace reprise::forward {
namespace {

using policy::Failed;
using policy::Outcome;
using policy::Responded;
using namespace std::chrono_literals;

Task<bool> keep(net::Pool& pool, Response& response, std::size_t most) {
  co_await keep_response(pool, response, most, net::Tick::now() + net::long_enough);
  co_return response.kept;
}

class HoldTest : public ::testing::Test {
 protected:
  /// Sets up the response as an attempt leaves it: a parsed head, and the bytes after it in the buffer.
  void arrive(const std::string& text) {
    net::Pair pair = net::connect_pair(bench);
    upstream = std::move(pair.raw);
    response.connection = net::Lease(
        std::make_unique<net::UpstreamConnection>(pool, pool.upstream("a.test", 80), std::move(pair.stream)));
    std::memcpy(response.buffer.room().data(), text.data(), text.size());
    response.buffer.commit(text.size());
    const http::Parsed parsed = http::parse_response(response.buffer.view(), {}, "GET", response.head);
    ASSERT_TRUE(std::holds_alternative<http::Progress>(parsed));
    response.buffer.consume(response.head.bytes);
    response.number = 1;
    response.reusable = response.head.reusable;
  }
  Outcome held(Duration time = 1h, Duration idle = 1h) {
    return bench.run(hold_back(pool, hold, {200, {}}, idle, net::Tick::now() + time, response));
  }
  bool pooled() { return !pool.upstream("a.test", 80)->idle.empty(); }

  net::Bench bench;
  net::BudgetTable budgets{8};
  net::HostGuards host_guards{8};
  std::unique_ptr<telemetry::Metrics> metrics = net::make_metrics();
  net::Pool pool{bench.tick, {}, 8, budgets, host_guards, *metrics};
  policy::HoldPolicy hold{10, 1h, {}};
  play::RawSocket upstream;
  Response response;
};

TEST_F(HoldTest, complete_held_body_is_kept_and_its_connection_is_reused) {
  arrive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  upstream.send("3\r\ndef\r\n0\r\nX-Sum: 7\r\n\r\n");
  EXPECT_TRUE(std::holds_alternative<Responded>(held()));
  EXPECT_TRUE(response.kept);
  EXPECT_EQ(response.body, "abcdef");
  EXPECT_EQ(response.trailers, "X-Sum: 7\r\n");
  EXPECT_EQ(response.head.status, 200);
  EXPECT_EQ(response.head.find(http::FieldId::transfer_encoding)->value, "chunked") << "the head lives on";
  EXPECT_TRUE(pooled());
}

TEST_F(HoldTest, B11_bytes_after_a_held_body_close_the_connection) {
  arrive("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n");
  EXPECT_TRUE(std::holds_alternative<Responded>(held()));
  EXPECT_EQ(response.body, "abc");
  EXPECT_FALSE(response.connection);
  EXPECT_FALSE(pooled());
}

TEST_F(HoldTest, body_bytes_after_the_held_part_can_still_be_read) {
  arrive("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n0123456789ab");
  EXPECT_TRUE(std::holds_alternative<Responded>(held()));
  EXPECT_FALSE(response.kept);
  EXPECT_EQ(response.body, "0123456789ab");
  Response moved;
  std::swap(moved, response);
  upstream.send("cdef");
  EXPECT_TRUE(bench.run(keep(pool, moved, 16)));
  EXPECT_EQ(moved.body, "0123456789abcdef");
  EXPECT_TRUE(pooled());
}

TEST_F(HoldTest, held_body_over_the_limit_for_kept_responses_is_discarded) {
  arrive("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n0123456789ab");
  held();
  upstream.send("cdef");
  EXPECT_FALSE(bench.run(keep(pool, response, 15)));
  EXPECT_FALSE(response.any());
  EXPECT_FALSE(response.connection);
}

TEST_F(HoldTest, held_chunked_body_over_the_limit_for_kept_responses_is_discarded_at_its_end) {
  hold.bytes = 12;
  arrive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n0123456789ab\r\n");
  held();
  upstream.send("0\r\n\r\n");
  EXPECT_FALSE(bench.run(keep(pool, response, 11)));
  EXPECT_FALSE(response.any());
}

TEST_F(HoldTest, memory_of_a_held_body_is_released) {
  hold.bytes = 100'000;
  arrive("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
  std::thread sender([&] { upstream.send(std::string(100'000, 'x')); });
  EXPECT_TRUE(std::holds_alternative<Responded>(held()));
  sender.join();
  EXPECT_EQ(response.body.size(), 100'000U);
  response.clear();
  EXPECT_LE(response.body.capacity(), net::block_bytes);
}

TEST_F(HoldTest, broken_held_body_keeps_the_bytes_received) {
  arrive("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
  upstream.finish_sending();
  const Outcome outcome = held();
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  EXPECT_EQ(std::get<Failed>(outcome).stage, policy::Stage::body);
  EXPECT_EQ(std::get<Failed>(outcome).cause, policy::Cause::truncated);
  EXPECT_EQ(response.body, "abc");
  EXPECT_EQ(response.broken, net::BodyStep::closed);
  EXPECT_FALSE(response.kept);
}

TEST_F(HoldTest, malformed_chunk_in_a_held_body_fails_as_malformed_response) {
  arrive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n");
  const Outcome outcome = held();
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  EXPECT_EQ(std::get<Failed>(outcome).cause, policy::Cause::malformed_response);
}

TEST_F(HoldTest, hold_timeout_ends_the_hold_and_the_body_continues) {
  arrive("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
  EXPECT_TRUE(std::holds_alternative<Responded>(held(0ms)));
  EXPECT_FALSE(response.broken);
  EXPECT_EQ(response.body, "abc");
  upstream.send("def");
  EXPECT_TRUE(bench.run(keep(pool, response, 6)));
  EXPECT_EQ(response.body, "abcdef");
}

TEST_F(HoldTest, held_body_that_stalls_fails_as_truncated) {
  arrive("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc");
  const Outcome outcome = held(1h, 1ms);
  ASSERT_TRUE(std::holds_alternative<Failed>(outcome));
  EXPECT_EQ(std::get<Failed>(outcome).cause, policy::Cause::truncated);
}

TEST_F(HoldTest, body_ended_by_connection_close_is_complete) {
  hold.body = {{"", "a", {"b"}}};
  arrive("HTTP/1.1 200 OK\r\n\r\n{\"a\":");
  upstream.send("\"b\"}");
  upstream.finish_sending();
  const Outcome outcome = held();
  ASSERT_TRUE(std::holds_alternative<Responded>(outcome));
  EXPECT_TRUE(std::get<Responded>(outcome).body_listed);
  EXPECT_TRUE(response.kept);
  EXPECT_FALSE(pooled());
}

TEST_F(HoldTest, body_that_no_predicate_can_match_is_not_held) {
  arrive("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16385\r\n\r\n");
  EXPECT_TRUE(is_held(hold, response)) << "its bytes are";
  hold = {0, 1h, {{"", "a"}}};
  EXPECT_FALSE(is_held(hold, response)) << "too long to be looked at";
  arrive("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16384\r\n\r\n");
  EXPECT_TRUE(is_held(hold, response));
  arrive("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 9\r\n\r\n");
  EXPECT_FALSE(is_held(hold, response));
  arrive("HTTP/1.1 204 No\r\n\r\n");
  hold.bytes = 10;
  EXPECT_FALSE(is_held(hold, response));
}

TEST_F(HoldTest, only_statuses_that_a_predicate_covers_are_held) {
  const std::string rest = " Told\r\nContent-Type: text/xml\r\nContent-Length: 9\r\n\r\n";
  hold = {0, 1h, {{.xml = "Code", .status = {{400, 403}}}}};
  for (const char* status : {"400", "403"}) {
    arrive("HTTP/1.1 " + std::string(status) + rest);
    EXPECT_TRUE(is_held(hold, response)) << status;
  }
  for (const char* status : {"200", "399", "404"}) {
    arrive("HTTP/1.1 " + std::string(status) + rest);
    EXPECT_FALSE(is_held(hold, response)) << status;
  }
}

TEST_F(HoldTest, xml_body_is_checked_once_it_is_complete) {
  hold = {0, 1h, {{.value = {"SlowDown"}, .xml = "Code", .status = {{400, 400}}}}};
  arrive("HTTP/1.1 400 Bad\r\nContent-Type: text/xml\r\nContent-Length: 36\r\n\r\n<Error><Code>SlowDown");
  upstream.send("</Code></Error>");
  const Outcome outcome = held();
  ASSERT_TRUE(std::holds_alternative<Responded>(outcome));
  EXPECT_TRUE(std::get<Responded>(outcome).body_listed);
}

TEST_F(HoldTest, header_predicate_is_checked_on_the_response_head_alone) {
  hold = {0, 1h, {{.value = {.matches = {"Throttling*"}}, .header = "x-amzn-errortype"}}};
  arrive("HTTP/1.1 400 Bad\r\nX-Amzn-ErrorType: ThrottlingException\r\nContent-Length: 9\r\n\r\n");
  EXPECT_TRUE(listed_by_head(hold, response));
  EXPECT_FALSE(is_held(hold, response));
  arrive("HTTP/1.1 400 Bad\r\nX-Amzn-ErrorType: ValidationException\r\nContent-Length: 9\r\n\r\n");
  EXPECT_FALSE(listed_by_head(hold, response));
}

}  // namespace
}  // namespace reprise::forward
