#include "proxy/telemetry/history/history_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry {
namespace {

using policy::Reason;

ScriptedRequest retried(const std::string& path, int failures = 1) {
  ScriptedRequest request("retried", "GET", path);
  for (int i = 0; i < failures; ++i)
    request.attempt(status(503), 2, retry_in(milliseconds(250), Reason::retryable_status));
  request.attempt(status(200), 3, stop(Reason::success)).ends(Ending::complete, 200);
  return request;
}

void keep(HistoryRing& ring, const ScriptedRequest& scripted, std::uint64_t number, bool path = true) {
  ExchangeRecord record = scripted.record();
  record.number = number;
  record.ended_wall = static_cast<std::int64_t>(number) * 1'000'000'000;
  ring.keep(record, path);
}

std::vector<std::uint64_t> numbers(const HistoryRing& ring, std::size_t most = 1000,
                                   std::uint64_t after = 0) {
  std::vector<std::uint64_t> all;
  ring.newest(most, after, [&](const HistoryEntry& story) { all.push_back(story.number); });
  return all;
}

TEST(HistoryRing, stored_request_is_read_back_unchanged) {
  ScriptedRequest request("whole", "POST", "/v1/orders");
  policy::Responded refused{429, {std::chrono::seconds(3), {}, true}};
  request.attempt(failure(policy::Stage::connect, policy::Cause::refused), 1,
                  retry_in(milliseconds(200), Reason::retryable_failure));
  request.attempt(refused, 5, stop(Reason::upstream_said_no), true).ends(Ending::complete, 429);
  request.host("api.example.com", 8443).ids("client-7", "").bytes(11, 22).ambiguous();
  HistoryRing ring(64 * 1024);
  keep(ring, request, 42);

  const auto told = ring.find(std::uint64_t{42});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->method, "POST");
  EXPECT_EQ(told->path, "/v1/orders");
  EXPECT_EQ(told->host, "api.example.com");
  EXPECT_EQ(told->port, 8443);
  EXPECT_EQ(told->request_id, "client-7");
  EXPECT_EQ(told->status, 429);
  EXPECT_EQ(told->reason, Reason::upstream_said_no);
  EXPECT_TRUE(told->ambiguous);
  EXPECT_EQ(told->request_bytes, 11U);
  EXPECT_EQ(told->response_bytes, 22U);
  EXPECT_EQ(told->took, milliseconds(206));
  EXPECT_EQ(told->ended_wall, 42'000'000'000);
  ASSERT_EQ(told->attempts.size(), 2U);
  const auto& first = std::get<policy::Failed>(told->attempts[0].outcome);
  EXPECT_EQ(first.cause, policy::Cause::refused);
  EXPECT_EQ(first.stage, policy::Stage::connect);
  EXPECT_TRUE(told->attempts[0].verdict.retry);
  EXPECT_EQ(told->attempts[0].verdict.delay, milliseconds(200));
  const auto& second = std::get<policy::Responded>(told->attempts[1].outcome);
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.hints.retry_after, std::chrono::seconds(3));
  EXPECT_TRUE(second.hints.said_no);
  EXPECT_EQ(told->attempts[1].started, milliseconds(201));
  EXPECT_EQ(told->attempts[1].wait, milliseconds(200));
  EXPECT_TRUE(told->attempts[1].reused);
}

TEST(HistoryRing, M107_facts_about_http2_are_read_back) {
  ScriptedRequest request("http2", "POST", "/v1/orders");
  request.attempt(excluded_by_goaway(), 1, {true, {}, Reason::stale_connection}).over_http2();
  request.attempt(stream_reset("cancel"), 5, retry_in(milliseconds(200), Reason::retryable_failure))
      .over_http2(milliseconds(30));
  request.attempt(status(200), 5, stop(Reason::success)).ends(Ending::complete, 200);
  HistoryRing ring(64 * 1024);
  keep(ring, request, 42);

  const auto entry = ring.find(std::uint64_t{42});
  ASSERT_TRUE(entry);
  ASSERT_EQ(entry->attempts.size(), 3U);
  EXPECT_TRUE(entry->attempts[0].http2);
  EXPECT_TRUE(std::get<policy::Failed>(entry->attempts[0].outcome).unprocessed);
  EXPECT_EQ(entry->attempts[1].queued, milliseconds(30));
  const auto& reset = std::get<policy::Failed>(entry->attempts[1].outcome);
  EXPECT_EQ(policy::reset_code(reset), "cancel");
  EXPECT_FALSE(reset.unprocessed);
  EXPECT_FALSE(entry->attempts[2].http2);
}

TEST(HistoryRing, M113_statuses_of_a_call_are_read_back) {
  ScriptedRequest request("call", "POST", "/shop.v1.Orders/Get");
  request.attempt(call_status(policy::GrpcStatus::unavailable), 1,
                  retry_in(milliseconds(2), Reason::retryable_status));
  request.attempt(status(200), 5, stop(Reason::success)).ends(Ending::complete, 200);
  HistoryRing ring(64 * 1024);
  keep(ring, request.call(policy::GrpcStatus::internal), 42);
  const auto entry = ring.find(std::uint64_t{42});
  ASSERT_TRUE(entry);
  EXPECT_TRUE(entry->is_call);
  EXPECT_EQ(entry->grpc, policy::GrpcStatus::internal);
  EXPECT_EQ(std::get<policy::Responded>(entry->attempts[0].outcome).grpc, policy::GrpcStatus::unavailable);
  EXPECT_FALSE(std::get<policy::Responded>(entry->attempts[1].outcome).grpc);
}

TEST(HistoryRing, every_number_and_text_of_a_record_is_read_back) {
  const ScriptedRequest request = retried("/v1/x");
  ExchangeRecord record = request.record();
  static_cast<ExchangeNumbers&>(record) = {.number = 7,
                                           .request_bytes = 1,
                                           .response_bytes = 2,
                                           .took = milliseconds(3),
                                           .ended_wall = 4,
                                           .route = 5,
                                           .status = 206,
                                           .port = 8443,
                                           .ending = Ending::cut,
                                           .idempotent = true,
                                           .own_response = true,
                                           .tunnel = true,
                                           .over_tls = true,
                                           .http2 = true,
                                           .is_call = true,
                                           .grpc = policy::GrpcStatus::data_loss};
  int texts = 0;
  const std::array<std::string, 6> each{"a", "bb", "ccc", "dddd", "eeeee", "ffffff"};
  for (std::string_view* const text : pointers_to(record)) *text = each.at(static_cast<std::size_t>(texts++));
  HistoryRing ring(64 * 1024);
  ring.keep(record, true);

  auto told = ring.find("eeeee");
  ASSERT_TRUE(told) << "by the request id";
  EXPECT_EQ(static_cast<const ExchangeNumbers&>(*told), static_cast<const ExchangeNumbers&>(record));
  texts = 0;
  for (const std::string* const text : pointers_to(*told))
    EXPECT_EQ(*text, each.at(static_cast<std::size_t>(texts++)));
}

TEST(HistoryRing, oldest_records_are_evicted_first_for_any_record_size) {
  for (const std::size_t capacity : {1000U, 2048U, 5000U, 9999U}) {
    HistoryRing ring(capacity);
    std::uint64_t number = 0;
    for (int round = 0; round < 400; ++round) {
      keep(ring, retried("/" + std::string(static_cast<std::size_t>(round * 37 % 200), 'x'), round % 4),
           ++number);
      const auto kept = numbers(ring);
      ASSERT_EQ(kept.size(), ring.size());
      for (std::size_t i = 0; i < kept.size(); ++i)
        ASSERT_EQ(kept[i], number - kept.size() + 1 + i) << capacity;
      for (const std::uint64_t one : kept) ASSERT_EQ(ring.find(one)->path[0], '/');
    }
    EXPECT_GE(ring.size(), 1U);
    EXPECT_FALSE(ring.find(std::uint64_t{1}));
  }
}

TEST(HistoryRing, record_that_does_not_fit_is_discarded_without_evicting_others) {
  HistoryRing ring(1024);
  keep(ring, retried("/a"), 1);
  keep(ring, retried("/long", 30), 2);
  EXPECT_EQ(numbers(ring), std::vector<std::uint64_t>{1});
  HistoryRing nothing(0);
  keep(nothing, retried("/a"), 1);
  EXPECT_EQ(nothing.size(), 0U);
  EXPECT_FALSE(nothing.find(std::uint64_t{1}));
}

TEST(HistoryRing, only_the_first_and_last_of_many_attempts_are_kept) {
  HistoryRing ring(64 * 1024);
  keep(ring, retried("/a", 99), 1);
  const auto told = ring.find(std::uint64_t{1});
  ASSERT_TRUE(told);
  ASSERT_EQ(told->attempts.size(), 32U);
  EXPECT_EQ(told->attempts_left_out, 68U);
  EXPECT_EQ(told->attempts_before_the_gap, 24U);
  EXPECT_EQ(told->attempts[23].number, 24U);
  EXPECT_EQ(told->attempts[24].number, 93U);
  EXPECT_EQ(told->attempts[31].number, 100U);
}

TEST(HistoryRing, newest_records_can_be_requested_by_count_and_after_a_given_number) {
  HistoryRing ring(64 * 1024);
  for (std::uint64_t number = 1; number <= 9; ++number) keep(ring, retried("/a"), number);
  EXPECT_EQ(numbers(ring, 2), (std::vector<std::uint64_t>{8, 9}));
  EXPECT_EQ(numbers(ring, 9, 7), (std::vector<std::uint64_t>{8, 9}));
  EXPECT_EQ(numbers(ring, 1, 9), std::vector<std::uint64_t>{});
}

TEST(HistoryRing, client_request_id_finds_its_newest_record) {
  HistoryRing ring(64 * 1024);
  ScriptedRequest named = retried("/a");
  named.ids("same", "");
  keep(ring, named, 1);
  keep(ring, named, 2);
  keep(ring, retried("/b"), 3);
  EXPECT_EQ(ring.find(std::string_view("same"))->number, 2U);
  EXPECT_FALSE(ring.find(std::string_view("sam")));
}

TEST(HistoryRing, path_excluded_from_the_log_is_excluded_from_history) {
  HistoryRing ring(64 * 1024);
  keep(ring, retried("/secret"), 1, false);
  EXPECT_EQ(ring.find(std::uint64_t{1})->path, "");
}

}  // namespace
}  // namespace reprise::telemetry
