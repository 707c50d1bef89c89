#include "proxy/server/cgroup/limit_files.hpp"

#include <gtest/gtest.h>

namespace reprise::server {
namespace {

TEST(LimitFiles, memory_file_holds_a_byte_count_or_means_no_limit) {
  EXPECT_EQ(memory_in("67108864\n"), 67108864U);
  EXPECT_EQ(memory_in(" 0 "), 0U);
  EXPECT_EQ(memory_in("4611686018427387903"), (1ULL << 62U) - 1);
  for (const char* text : {"max\n", "9223372036854771712\n", "9223372036854710272\n", "18446744073709551615",
                           "99999999999999999999999", "", "\n", "-1", "+5", "12x", "1 2", "0x10", "\xff"})
    EXPECT_FALSE(memory_in(text)) << text;
}

TEST(LimitFiles, cpu_files_give_quota_divided_by_period) {
  EXPECT_EQ(cpus_in("50000 100000\n"), 0.5);
  EXPECT_EQ(cpus_in("200000 100000"), 2.0);
  EXPECT_EQ(cpus_in("100000\n", "50000\n"), 2.0);
  for (const char* text :
       {"max 100000\n", "", "50000", "0 100000", "50000 0", "-1 100000", "a b", "1 2 3", "50000 max"})
    EXPECT_FALSE(cpus_in(text)) << text;
  EXPECT_FALSE(cpus_in("-1\n", "100000\n"));
  EXPECT_FALSE(cpus_in("50000", ""));
}

}  // namespace
}  // namespace reprise::server
