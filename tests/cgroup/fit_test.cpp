#include "proxy/server/cgroup/fit.hpp"

#include <gtest/gtest.h>

namespace reprise::server {
namespace {

constexpr std::uint64_t mebibyte = 1024 * 1024;

Limits memory(std::uint64_t bytes) {
  Limits limits;
  limits.memory_bytes = bytes;
  limits.memory_file = "/cg/memory.max";
  return limits;
}

Limits cpus(double share) {
  Limits limits;
  limits.cpus = share;
  limits.cpu_file = "/cg/cpu.max";
  return limits;
}

TEST(Fit, replay_memory_share_is_a_quarter_of_the_cgroup_limit_in_whole_mebibytes) {
  EXPECT_EQ(replay_share(256 * mebibyte), 64 * mebibyte);
  EXPECT_EQ(replay_share(192 * mebibyte), 48 * mebibyte);
  EXPECT_EQ(replay_share(100'000'000), 23 * mebibyte);
  for (const std::uint64_t little : {std::uint64_t{0}, std::uint64_t{5000}, 7 * mebibyte})
    EXPECT_EQ(replay_share(little), mebibyte) << little;
}

TEST(Fit, default_replay_memory_is_lowered_and_reported_if_above_its_share) {
  const config::Settings settings;
  const Fitted fitted = fit(settings, false, memory(64 * mebibyte));
  EXPECT_EQ(fitted.replay_memory_bytes, 16 * mebibyte);
  ASSERT_EQ(fitted.notes.size(), 1U);
  EXPECT_EQ(fitted.notes[0].path, "limits.replay_memory");
  EXPECT_EQ(fitted.notes[0].message,
            "is 16MiB instead of 64MiB: a quarter of 64MiB of memory (/cg/memory.max); a value that is set "
            "in the file is not lowered");
  EXPECT_TRUE(fitted.warnings.empty());
}

TEST(Fit, default_replay_memory_is_kept_if_within_its_share) {
  const config::Settings settings;
  for (const Limits& limits : {memory(256 * mebibyte), memory(1ULL << 40U), Limits{}}) {
    const Fitted fitted = fit(settings, false, limits);
    EXPECT_EQ(fitted.replay_memory_bytes, 64 * mebibyte);
    EXPECT_TRUE(fitted.notes.empty() && fitted.warnings.empty());
  }
}

TEST(Fit, configured_replay_memory_is_kept_with_a_warning_if_above_its_share) {
  config::Settings settings;
  settings.limits.replay_memory_bytes = 32 * mebibyte;
  const Fitted fitted = fit(settings, true, memory(64 * mebibyte));
  EXPECT_EQ(fitted.replay_memory_bytes, 32 * mebibyte);
  EXPECT_TRUE(fitted.notes.empty());
  ASSERT_EQ(fitted.warnings.size(), 1U);
  EXPECT_NE(fitted.warnings[0].message.find("write 16MiB or less"), std::string::npos)
      << fitted.warnings[0].message;
  settings.limits.replay_memory_bytes = 16 * mebibyte;
  EXPECT_TRUE(fit(settings, true, memory(64 * mebibyte)).warnings.empty()) << "no more than its share";
  settings.limits.replay_memory_bytes = 0;
  EXPECT_EQ(fit(settings, true, memory(mebibyte)).replay_memory_bytes, 0U);
}

TEST(Fit, route_with_more_replay_memory_than_the_lowered_total_causes_a_warning) {
  config::Settings settings;
  std::vector<policy::Route> routes(2);
  routes[0].name = "uploads";
  routes[0].policy.replay_memory_bytes = 20 * mebibyte;
  routes[1].name = "off";
  routes[1].policy.replay_memory_bytes = 20 * mebibyte;
  routes[1].policy.mode = policy::Mode::off;
  settings.routes = std::make_shared<policy::RouteTable>(routes, policy::Route{});
  const Fitted fitted = fit(settings, false, memory(64 * mebibyte));
  ASSERT_EQ(fitted.warnings.size(), 1U);
  EXPECT_EQ(fitted.warnings[0].path, "routes.uploads");
  EXPECT_TRUE(fit(settings, false, memory(80 * mebibyte)).warnings.empty());
}

TEST(Fit, more_threads_than_cpus_cause_a_warning_and_are_kept) {
  config::Settings settings;
  settings.threads = 4;
  const Fitted fitted = fit(settings, false, cpus(1.5));
  ASSERT_EQ(fitted.warnings.size(), 1U);
  EXPECT_EQ(fitted.warnings[0].path, "threads");
  EXPECT_EQ(
      fitted.warnings[0].message,
      "4 threads share 1.5 CPUs (/cg/cpu.max), and all of them pause when that time is used up: write 2, "
      "or raise that limit");
  settings.threads = 2;
  EXPECT_TRUE(fit(settings, false, cpus(1.5)).warnings.empty());
  settings.threads = 1;
  EXPECT_TRUE(fit(settings, false, cpus(0.1)).warnings.empty()) << "less than one there is not";
}

}  // namespace
}  // namespace reprise::server
