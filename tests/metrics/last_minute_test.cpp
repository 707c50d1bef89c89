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
  // As "second:number ...".
  std::string at(std::int64_t now) const {
    std::string all;
    for (const auto& one : minute_.list(now, [this] { return totals_; }))
      all += std::to_string(one.second) + ":" + std::to_string(one.numbers.attempts) + " ";
    return all;
  }

  LastMinute<AttemptNumbers> minute_;
  AttemptNumbers totals_;
};

TEST_F(LastMinuteTest, splits_totals_by_the_second) {
  EXPECT_EQ(at(100), "");
  count(1, 100);
  count(2, 100);
  count(5, 101);
  count(1, 104);
  EXPECT_EQ(at(104), "100:3 101:5 104:1 ");
}

TEST_F(LastMinuteTest, leaves_out_what_is_older_than_60_seconds) {
  count(3, 100);
  count(4, 101);
  EXPECT_EQ(at(159), "100:3 101:4 ");
  EXPECT_EQ(at(160), "101:4 ");
  EXPECT_EQ(at(161), "");
}

TEST_F(LastMinuteTest, requests_before_a_long_pause_keep_their_second) {
  count(7, 100);
  count(2, 400);
  EXPECT_EQ(at(400), "400:2 ");
}

TEST_F(LastMinuteTest, keeps_at_most_60_seconds_and_the_one_that_is_open) {
  for (std::int64_t second = 0; second < 1000; ++second) count(1, second);
  EXPECT_EQ(minute_.list(999, [this] { return totals_; }).size(), 60U);
  EXPECT_EQ(minute_.list(999, [this] { return totals_; }).front().second, 940);
}

TEST_F(LastMinuteTest, a_request_of_a_second_that_is_over_counts_in_the_open_one) {
  count(1, 100);
  count(1, 101);
  count(1, 100);
  EXPECT_EQ(at(101), "100:1 101:2 ");
}

TEST_F(LastMinuteTest, totals_may_wrap) {
  count(0xffffffff, 10);
  count(3, 100);
  EXPECT_EQ(at(100), "100:3 ");
}

TEST(LastMinuteOfMetrics, counts_each_route_and_upstream_in_the_second_in_which_a_request_ended) {
  Metrics metrics(std::vector<std::string>{"api", "orders"}, std::vector<std::string_view>{"loop"}, "1");
  const auto count = [&](std::uint32_t route, Ending ending, int status, int at) {
    ScriptedRequest story("x", "GET", "/");
    ExchangeRecord record = story.ends(ending, status).record();
    record.route = route;
    record.upstream = &metrics.upstream("a.test:80");
    record.started = policy::Instant(seconds(at));
    metrics.count(record);
  };
  count(0, Ending::answered, 200, 10);
  count(0, Ending::answered, 503, 10);
  count(0, Ending::cut, 200, 12);
  count(0, Ending::client_gone, 0, 12);
  count(1, Ending::answered, 404, 13);
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

TEST(LastMinuteOfMetrics, loses_nothing_when_threads_count_at_once) {
  Metrics metrics(std::vector<std::string>{"api"}, std::vector<std::string_view>{"loop"}, "1");
  constexpr int each = 5000;
  const auto work = [&metrics] {
    for (int i = 0; i < each; ++i) {
      ScriptedRequest story("x", "GET", "/");
      ExchangeRecord record = story.ends(Ending::answered, 200).record();
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
