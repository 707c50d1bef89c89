#include "proxy/telemetry/metrics/upstream_cells.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace reprise::telemetry {
namespace {

TEST(UpstreamTable, the_first_that_are_met_have_a_label_and_the_rest_shares_one) {
  UpstreamTable table({{}, 2, 10});
  EXPECT_EQ(table.meet("a:80").label, "a:80");
  EXPECT_EQ(table.meet("a:81").label, "a:81");
  EXPECT_EQ(table.meet("b:80").label, "other");
  EXPECT_EQ(table.meet("a:80").label, "a:80");
  EXPECT_EQ(&table.meet("a:80"), &table.meet("a:80"));
  EXPECT_EQ(&table.meet("b:80"), &table.meet("c:80"));
}

TEST(UpstreamTable, a_host_of_the_configuration_takes_no_place_from_others) {
  UpstreamTable table({{"api.internal"}, 1, 10});
  EXPECT_EQ(table.meet("met:80").label, "met:80");
  EXPECT_EQ(table.meet("api.internal:80").label, "api.internal:80");
  EXPECT_EQ(table.meet("api.internal:8080").label, "api.internal:8080");
  EXPECT_EQ(table.meet("other.api.internal:80").label, "other");
}

TEST(UpstreamTable, no_more_labels_than_there_may_be_upstreams) {
  UpstreamTable table({{"api"}, 32, 3});
  for (int port = 1; port < 100; ++port) table.meet("api:" + std::to_string(port));
  std::vector<std::string> labels;
  table.each([&](const UpstreamCells& cells) { labels.push_back(cells.label); });
  EXPECT_EQ(labels, (std::vector<std::string>{"api:1", "api:2", "api:3", "other"}));
}

TEST(UpstreamTable, to_look_a_label_up_is_not_to_meet_it) {
  UpstreamTable table({{"api"}, 1, 10});
  EXPECT_EQ(table.label_of("api:80"), "other");
  table.meet("api:80");
  EXPECT_EQ(table.label_of("api:80"), "api:80");
}

TEST(UpstreamTable, threads_that_meet_the_same_count_in_the_same_cells) {
  UpstreamTable table({{}, 4, 10});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&table] {
      for (int i = 0; i < 1000; ++i) ++table.meet("h" + std::to_string(i % 8) + ":80").attempts[0];
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t all = 0;
  std::size_t labels = 0;
  table.each([&](const UpstreamCells& cells) { all += cells.attempts[0], ++labels; });
  EXPECT_EQ(all, 4000U);
  EXPECT_EQ(labels, 5U);
}

}  // namespace
}  // namespace reprise::telemetry
