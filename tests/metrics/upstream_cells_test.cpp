#include "proxy/telemetry/metrics/upstream_cells.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace reprise::telemetry {
namespace {

TEST(UpstreamTable, first_upstreams_get_a_label_each_and_all_others_share_the_label_other) {
  UpstreamTable table({{}, 2, 10});
  EXPECT_EQ(table.cells_of("a:80").label, "a:80");
  EXPECT_EQ(table.cells_of("a:81").label, "a:81");
  EXPECT_EQ(table.cells_of("b:80").label, "other");
  EXPECT_EQ(table.cells_of("a:80").label, "a:80");
  EXPECT_EQ(&table.cells_of("a:80"), &table.cells_of("a:80"));
  EXPECT_EQ(&table.cells_of("b:80"), &table.cells_of("c:80"));
}

TEST(UpstreamTable, configured_host_does_not_use_up_a_label_slot) {
  UpstreamTable table({{"api.internal"}, 1, 10});
  EXPECT_EQ(table.cells_of("met:80").label, "met:80");
  EXPECT_EQ(table.cells_of("api.internal:80").label, "api.internal:80");
  EXPECT_EQ(table.cells_of("api.internal:8080").label, "api.internal:8080");
  EXPECT_EQ(table.cells_of("other.api.internal:80").label, "other");
}

TEST(UpstreamTable, number_of_upstream_labels_is_limited) {
  UpstreamTable table({{"api"}, 32, 3});
  for (int port = 1; port < 100; ++port) table.cells_of("api:" + std::to_string(port));
  std::vector<std::string> labels;
  table.each([&](const UpstreamCells& cells) { labels.push_back(cells.label); });
  EXPECT_EQ(labels, (std::vector<std::string>{"api:1", "api:2", "api:3", "other"}));
}

TEST(UpstreamTable, looking_up_a_label_does_not_register_the_upstream) {
  UpstreamTable table({{"api"}, 1, 10});
  EXPECT_EQ(table.label_of("api:80"), "other");
  table.cells_of("api:80");
  EXPECT_EQ(table.label_of("api:80"), "api:80");
}

TEST(UpstreamTable, concurrent_threads_count_an_upstream_in_the_same_cells) {
  UpstreamTable table({{}, 4, 10});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&table] {
      for (int i = 0; i < 1000; ++i) ++table.cells_of("h" + std::to_string(i % 8) + ":80").attempts[0];
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
