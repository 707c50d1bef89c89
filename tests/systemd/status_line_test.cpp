#include "proxy/net/systemd/status_line.hpp"

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

ServiceState serving() { return {2, {"forward 127.0.0.1:3128", "admin 127.0.0.1:3129"}, false, 0, {}}; }

constexpr std::int64_t moment = 1'767'348'192;

TEST(StatusLine, status_line_names_routes_and_listeners) {
  EXPECT_EQ(status_line(serving()),
            "serving 2 routes and the default route on forward 127.0.0.1:3128, admin 127.0.0.1:3129");
  ServiceState one = serving();
  one.routes = 1;
  EXPECT_EQ(status_line(one).substr(0, 15), "serving 1 route");
}

TEST(StatusLine, status_line_begins_with_the_report_of_a_failed_reload) {
  ServiceState state = serving();
  state.reloaded = moment;
  state.why_not = "reprise.yaml:3:1: error:\nwords";
  EXPECT_EQ(status_line(state).find("reload failed at 2026-01-02T10:03:12Z, keeping the previous "
                                    "configuration: reprise.yaml:3:1: error: words; serving"),
            0U)
      << status_line(state);
  state.why_not.clear();
  EXPECT_TRUE(status_line(state).ends_with("; reloaded at 2026-01-02T10:03:12Z")) << status_line(state);
}

TEST(StatusLine, status_line_reports_draining_and_is_bounded_in_length) {
  ServiceState state = serving();
  state.draining = true;
  EXPECT_TRUE(status_line(state).starts_with("draining: not ready, ")) << status_line(state);
  state.listeners.assign(100, "forward 127.0.0.1:3128");
  EXPECT_EQ(status_line(state).size(), 500U);
}

}  // namespace
}  // namespace reprise::net
