#include "proxy/telemetry/metrics/last_minute.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "proxy/telemetry/metrics/metrics.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry::last_minute_test {
namespace {

using std::chrono::seconds;

class LastMinuteTest : public testing::Test {
 protected:
  void count(std::uint32_t number, std::int64_t second) {
    minute_.before_count(second, [this] { return totals_; });
    totals_.attempts += number;
  }
  // Returns the counts of the minute before `now`, as "second:number ...".
  std::string at(std::int64_t now) const {
    std::string all;
    for (const auto& one : minute_.list(now, [this] { return totals_; }))
      all += std::to_string(one.second) + ":" + std::to_string(one.numbers.attempts) + " ";
    return all;
  }

  LastMinute<AttemptNumbers> minute_;
  AttemptNumbers totals_;
};

TEST_F(LastMinuteTest, totals_are_split_by_second) {
  EXPECT_EQ(at(100), "");
  count(1, 100);
  count(2, 100);
  count(5, 101);
  count(1, 104);
  EXPECT_EQ(at(104), "100:3 101:5 104:1 ");
}

TEST_F(LastMinuteTest, seconds_older_than_60_are_omitted) {
  count(3, 100);
  count(4, 101);
  EXPECT_EQ(at(159), "100:3 101:4 ");
  EXPECT_EQ(at(160), "101:4 ");
  EXPECT_EQ(at(161), "");
}

TEST_F(LastMinuteTest, requests_before_a_pause_of_minutes_do_not_count_in_the_last_minute) {
  count(7, 100);
  count(2, 400);
  EXPECT_EQ(at(400), "400:2 ");
}

TEST_F(LastMinuteTest, at_most_60_seconds_are_listed) {
  for (std::int64_t second = 0; second < 1000; ++second) count(1, second);
  EXPECT_EQ(minute_.list(999, [this] { return totals_; }).size(), 60U);
  EXPECT_EQ(minute_.list(999, [this] { return totals_; }).front().second, 940);
}

TEST_F(LastMinuteTest, request_reported_with_an_earlier_time_counts_in_the_current_second) {
  count(1, 100);
  count(1, 101);
  count(1, 100);
  EXPECT_EQ(at(101), "100:1 101:2 ");
}

TEST_F(LastMinuteTest, counts_per_second_are_correct_when_a_32_bit_total_overflows) {
  count(0xffffffff, 10);
  count(3, 100);
  EXPECT_EQ(at(100), "100:3 ");
}

TEST(LastMinuteOfMetrics, requests_count_per_route_and_upstream_in_the_second_they_ended) {
  Metrics metrics(std::vector<std::string>{"api", "orders"}, std::vector<std::string_view>{"loop"}, "1");
  const auto count = [&](std::uint32_t route, Ending ending, int status, int at) {
    ScriptedRequest story("x", "GET", "/");
    ExchangeRecord record = story.ends(ending, status).record();
    record.route = route;
    record.upstream = &metrics.upstream("a.test:80");
    record.started = policy::Instant(seconds(at));
    metrics.count(record);
  };
  count(0, Ending::complete, 200, 10);
  count(0, Ending::complete, 503, 10);
  count(0, Ending::cut, 200, 12);
  count(0, Ending::client_gone, 0, 12);
  count(1, Ending::complete, 404, 13);
  metrics.upstream("a.test:80").attempts[0] += 2;
  const auto api = metrics.last_minute_of(0, policy::Instant(seconds(20)));
  ASSERT_EQ(api.size(), 2U);
  EXPECT_EQ(api[0].second, 10);
  EXPECT_EQ(api[0].numbers.requests, 2U);
  EXPECT_EQ(api[0].numbers.failed, 1U);
  EXPECT_EQ(api[0].numbers.durations[0], 2U);
  EXPECT_EQ(api[1].numbers.failed, 1U) << "the response was cut";
  EXPECT_EQ(api[1].numbers.client_gone, 1U);
  EXPECT_EQ(metrics.last_minute_of(1, policy::Instant(seconds(20))).size(), 1U);
  EXPECT_TRUE(metrics.last_minute_of(1, policy::Instant(seconds(73))).empty());
  const auto upstreams = metrics.upstream_totals(policy::Instant(seconds(20)));
  ASSERT_EQ(upstreams.size(), 1U);
  ASSERT_EQ(upstreams[0].last_minute.size(), 1U);
  EXPECT_EQ(upstreams[0].last_minute[0].numbers.attempts, 2U);
}

TEST(LastMinuteOfMetrics, concurrent_counting_loses_nothing) {
  Metrics metrics(std::vector<std::string>{"api"}, std::vector<std::string_view>{"loop"}, "1");
  constexpr int each = 5000;
  const auto work = [&metrics] {
    for (int i = 0; i < each; ++i) {
      ScriptedRequest story("x", "GET", "/");
      ExchangeRecord record = story.ends(Ending::complete, 200).record();
      record.started = policy::Instant(seconds(i / 100));
      metrics.count(record);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  }
  std::uint64_t all = 0;
  for (const auto& one : metrics.last_minute_of(0, policy::Instant(seconds(each / 100))))
    all += one.numbers.requests;
  EXPECT_EQ(all, 4U * each);
}

}  // namespace
}  // namespace reprise::telemetry::last_minute_test
