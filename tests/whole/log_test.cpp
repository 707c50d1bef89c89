// Tests what a running proxy logs, and what it does on SIGHUP.
#include <unistd.h>

#include <csignal>

#include "proxy/server/process/signals.hpp"
#include "tests/support/log_file.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using play::LogFile;

TEST(ProxyLog, L15_failed_request_is_logged_even_without_an_access_log) {
  ScriptedUpstream upstream(play::responses({response(200, "x"), response(503, "busy")}));
  const LogFile log;
  Wishes wishes;
  wishes.log_descriptor = log.descriptor();
  wishes.settings.log.access = false;
  wishes.route.retry.max_attempts = 2;
  {
    RunningProxy proxy(std::move(wishes));
    RawClient client = proxy.client();
    EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
    EXPECT_EQ(client.ask(play::get(upstream.authority(), "/v1/x")).status, 503);
  }
  EXPECT_TRUE(log.says("\"level\":\"error\"")) << log.text();
  EXPECT_TRUE(log.says("attempts_spent"));
  EXPECT_TRUE(log.says("/v1/x"));
  EXPECT_FALSE(log.says("\"status\":200")) << "no access line";
}

// A client or another proxy may send any value as traceparent. The trace id is logged only if the value is
// valid (W3C Trace Context 2.2).
TEST(ProxyLog, log_line_contains_the_trace_id_of_a_valid_traceparent) {
  const std::string trace = "0af7651916cd43dd8448eb211c80319c";
  const std::string span = "b7ad6b7169203331";
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  const LogFile log;
  Wishes wishes;
  wishes.log_descriptor = log.descriptor();
  {
    RunningProxy proxy(std::move(wishes));
    RawClient client = proxy.client();
    const auto ask = [&](const std::string& value, std::string_view path = "/bad") {
      EXPECT_EQ(client.ask(play::get(upstream.authority(), path, "TraceParent: " + value + "\r\n")).status,
                200);
    };
    ask("00-" + trace + "-" + span + "-01", "/good");
    ask("01-" + trace + "-" + span + "-01-more", "/newer");
    ask("00-" + trace + "-" + span + "-0");
    ask("00-" + trace + "-" + span + "-01-more");
    ask("ff-" + trace + "-" + span + "-01");
    ask("0x-" + trace + "-" + span + "-01");
    ask("00." + trace + "-" + span + "-01");
    ask("00-" + trace + "." + span + "-01");
    ask("00-" + trace + "-" + span + ".01");
    ask("00-0AF7651916CD43DD8448EB211C80319C-" + span + "-01");
    ask("00-" + trace + "-B7AD6B7169203331-01");
    ask("00-" + trace + "-" + span + "-0x");
    ask("00-" + std::string(32, '0') + "-" + span + "-01");
    ask("00-" + trace + "-" + std::string(16, '0') + "-01");
  }
  EXPECT_TRUE(log.says("\"path\":\"/bad\"", 12)) << log.text();
  EXPECT_TRUE(log.says("\"trace_id\":\"" + trace + "\"", 2)) << "of the good one and of the newer version";
  EXPECT_FALSE(log.says("\"trace_id\"", 3));
}

TEST(ProxyLog, each_attempt_is_logged_at_debug_with_the_next_step) {
  ScriptedUpstream upstream(
      play::responses({response(503, "busy"), response(200, "x"), response(503, "busy")}));
  const LogFile log;
  const auto narrating = [&](policy::Mode mode, config::LogPath path) {
    Wishes wishes;
    wishes.log_descriptor = log.descriptor();
    wishes.settings.log.level = config::LogLevel::debug;
    wishes.settings.log.path = path;
    wishes.route.mode = mode;
    return wishes;
  };
  {
    RunningProxy proxy(narrating(policy::Mode::active, config::LogPath::full));
    EXPECT_EQ(proxy.client().ask(play::get(upstream.authority(), "/v1/told")).status, 200);
  }
  EXPECT_TRUE(log.says("/v1/told: attempt 1: 503, retryable_status, retry in ")) << log.text();
  EXPECT_TRUE(log.says("/v1/told: attempt 2: 200, success\""));
  {
    RunningProxy proxy(narrating(policy::Mode::observe, config::LogPath::route));
    EXPECT_EQ(proxy.client().ask(play::get(upstream.authority(), "/v1/secret")).status, 503);
  }
  EXPECT_TRUE(log.says(": attempt 1: 503, observe_only, would be retried in ")) << log.text();
  EXPECT_FALSE(log.says("secret")) << "`log.path: route` keeps paths out";
}

TEST(ProxyLog, L18_sighup_without_a_configuration_file_is_logged) {
  sigset_t before{};
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  server::hold_signals();
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  const LogFile log;
  Wishes wishes;
  wishes.log_descriptor = log.descriptor();
  wishes.handle_signals = true;
  {
    RunningProxy proxy(std::move(wishes));
    ASSERT_TRUE(play::eventually([&] { return log.says("ready"); }));
    for (int times = 1; times <= 3; ++times) {
      ASSERT_EQ(::kill(::getpid(), SIGHUP), 0);
      EXPECT_TRUE(play::eventually([&] {
        return log.says("cannot reload: reprise was started without a configuration file", times);
      }));
      EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).body, "x");
    }
  }
  EXPECT_EQ(::kill(::getpid(), SIGHUP), 0) << "not even at its end";
  std::signal(SIGHUP, SIG_IGN);  // discards a pending SIGHUP
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace reprise::server
