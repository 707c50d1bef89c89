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

TEST(Fit, memory_share_is_a_quarter_of_the_cgroup_limit_in_whole_mebibytes) {
  EXPECT_EQ(memory_share(256 * mebibyte), 64 * mebibyte);
  EXPECT_EQ(memory_share(192 * mebibyte), 48 * mebibyte);
  EXPECT_EQ(memory_share(100'000'000), 23 * mebibyte);
  for (const std::uint64_t little : {std::uint64_t{0}, std::uint64_t{5000}, 7 * mebibyte})
    EXPECT_EQ(memory_share(little), mebibyte) << little;
}

TEST(Fit, default_memory_limits_are_lowered_and_reported_if_above_their_share) {
  const config::Settings settings;
  const Fitted fitted = fit(settings, {}, memory(64 * mebibyte));
  EXPECT_EQ(fitted.replay_memory_bytes, 16 * mebibyte);
  EXPECT_EQ(fitted.stream_memory_bytes, 16 * mebibyte);
  ASSERT_EQ(fitted.notes.size(), 2U);
  EXPECT_EQ(fitted.notes[0].path, "limits.replay_memory");
  EXPECT_EQ(fitted.notes[1].path, "limits.stream_memory");
  for (const Remark& note : fitted.notes) {
    EXPECT_EQ(note.message,
              "is 16MiB instead of 64MiB: a quarter of 64MiB of memory (/cg/memory.max); a value that is set "
              "in the file is not lowered");
  }
  EXPECT_TRUE(fitted.warnings.empty());
}

TEST(Fit, default_memory_limits_are_kept_if_within_their_share) {
  const config::Settings settings;
  for (const Limits& limits : {memory(256 * mebibyte), memory(1ULL << 40U), Limits{}}) {
    const Fitted fitted = fit(settings, {}, limits);
    EXPECT_EQ(fitted.replay_memory_bytes, 64 * mebibyte);
    EXPECT_EQ(fitted.stream_memory_bytes, 64 * mebibyte);
    EXPECT_TRUE(fitted.notes.empty() && fitted.warnings.empty());
  }
}

TEST(Fit, configured_memory_limits_are_kept_with_a_warning_if_above_their_share) {
  config::Settings settings;
  settings.limits.replay_memory_bytes = 32 * mebibyte;
  settings.limits.stream_memory_bytes = 24 * mebibyte;
  const SetInFile both{true, true};
  const Fitted fitted = fit(settings, both, memory(64 * mebibyte));
  EXPECT_EQ(fitted.replay_memory_bytes, 32 * mebibyte);
  EXPECT_EQ(fitted.stream_memory_bytes, 24 * mebibyte);
  EXPECT_TRUE(fitted.notes.empty());
  ASSERT_EQ(fitted.warnings.size(), 2U);
  const std::string rest =
      " is more than a quarter of the limit of this control group, 64MiB of memory (/cg/memory.max); the "
      "kernel may end a process that exceeds the limit: write 16MiB or less, or raise that limit";
  EXPECT_EQ(fitted.warnings[0].path, "limits.replay_memory");
  EXPECT_EQ(fitted.warnings[0].message, "32MiB for held request bodies" + rest);
  EXPECT_EQ(fitted.warnings[1].path, "limits.stream_memory");
  EXPECT_EQ(fitted.warnings[1].message, "24MiB for the streams of HTTP/2" + rest);
  settings.limits.replay_memory_bytes = 16 * mebibyte;
  settings.limits.stream_memory_bytes = 16 * mebibyte;
  EXPECT_TRUE(fit(settings, both, memory(64 * mebibyte)).warnings.empty()) << "no more than their share";
  settings.limits.replay_memory_bytes = 0;
  EXPECT_EQ(fit(settings, both, memory(mebibyte)).replay_memory_bytes, 0U);
}

TEST(Fit, configured_memory_limit_does_not_keep_the_default_of_the_other) {
  const config::Settings settings;
  const Fitted replay = fit(settings, {.replay_memory = true}, memory(64 * mebibyte));
  EXPECT_EQ(replay.replay_memory_bytes, 64 * mebibyte);
  EXPECT_EQ(replay.stream_memory_bytes, 16 * mebibyte);
  const Fitted streams = fit(settings, {.stream_memory = true}, memory(64 * mebibyte));
  EXPECT_EQ(streams.replay_memory_bytes, 16 * mebibyte);
  EXPECT_EQ(streams.stream_memory_bytes, 64 * mebibyte);
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
  const Fitted fitted = fit(settings, {}, memory(64 * mebibyte));
  ASSERT_EQ(fitted.warnings.size(), 1U);
  EXPECT_EQ(fitted.warnings[0].path, "routes.uploads");
  EXPECT_TRUE(fit(settings, {}, memory(80 * mebibyte)).warnings.empty());
}

TEST(Fit, more_threads_than_cpus_cause_a_warning_and_are_kept) {
  config::Settings settings;
  settings.threads = 4;
  const Fitted fitted = fit(settings, {}, cpus(1.5));
  ASSERT_EQ(fitted.warnings.size(), 1U);
  EXPECT_EQ(fitted.warnings[0].path, "threads");
  EXPECT_EQ(
      fitted.warnings[0].message,
      "4 threads share 1.5 CPUs (/cg/cpu.max), and all of them pause when that time is used up: write 2, "
      "or raise that limit");
  settings.threads = 2;
  EXPECT_TRUE(fit(settings, {}, cpus(1.5)).warnings.empty());
  settings.threads = 1;
  EXPECT_TRUE(fit(settings, {}, cpus(0.1)).warnings.empty()) << "less than one there is not";
}

}  // namespace
}  // namespace reprise::server
