// Tests that keys which need a restart keep their value and are reported, and that all other keys change.
#include "proxy/server/process/start_only.hpp"

#include <gtest/gtest.h>

namespace reprise::server {
namespace {

TEST(StartOnly, nothing_is_reported_if_the_settings_are_equal) {
  const config::Settings running;
  config::Settings next;
  EXPECT_TRUE(keep_start_only(running, next).empty());
}

TEST(StartOnly, each_key_that_needs_a_restart_keeps_its_value_and_is_named) {
  const config::Settings running;
  config::Settings next;
  next.threads = running.threads + 1;
  next.admin.control = "/run/other.sock";
  next.limits.admin_connections = running.limits.admin_connections + 1;
  next.limits.replay_folder = "/elsewhere";
  next.limits.upstreams = running.limits.upstreams + 1;
  next.limits.labelled_upstreams = running.limits.labelled_upstreams + 1;
  next.limits.history_bytes = running.limits.history_bytes + 1;
  next.limits.connections = running.limits.connections + 1;
  EXPECT_EQ(keep_start_only(running, next),
            (std::vector<std::string>{"threads", "admin.control", "limits.admin_connections",
                                      "limits.replay_folder", "limits.upstreams", "limits.labelled_upstreams",
                                      "limits.stories"}));
  EXPECT_EQ(next.threads, running.threads);
  EXPECT_EQ(next.admin.control, running.admin.control);
  EXPECT_EQ(next.limits.replay_folder, running.limits.replay_folder);
  EXPECT_EQ(next.limits.connections, running.limits.connections + 1) << "this one is taken up";
  EXPECT_TRUE(keep_start_only(running, next).empty()) << "all that differed is kept";
}

}  // namespace
}  // namespace reprise::server
