// What a running proxy writes to its log, and what it makes of SIGHUP.
#include <unistd.h>

#include <csignal>

#include "tests/support/log_file.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::net {
namespace {

using play::LogFile;

TEST(ProxyLog, L15_what_was_given_up_is_told_without_access_lines) {
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

// Asio's handler of signals reads what another thread of this process wrote at the proxy's start: in the
// program itself both are the first thread's.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool signals_are_heard_elsewhere = true;
#else
constexpr bool signals_are_heard_elsewhere = false;
#endif
#else
constexpr bool signals_are_heard_elsewhere = false;
#endif

TEST(ProxyLog, L18_a_hangup_with_nothing_to_read_again_is_told) {
  if (signals_are_heard_elsewhere) GTEST_SKIP() << "the thread sanitizer sees the test's own arrangement";
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
      EXPECT_TRUE(
          play::eventually([&] { return log.says("there is no configuration file to read again", times); }));
      EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).body, "x");
    }
  }
  EXPECT_EQ(::kill(::getpid(), SIGHUP), 0) << "not even at its end";
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace reprise::net
