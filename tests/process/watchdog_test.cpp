#include "proxy/server/process/watchdog.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "tests/support/notify_listener.hpp"
#include "tests/support/own_folder.hpp"

namespace reprise::server {
namespace {

TEST(WatchdogTest, hanging_event_loop_stops_the_watchdog_signals_until_it_runs_again) {
  const play::OwnFolder folder;
  const std::string address = folder.path() + "/notify";
  const play::NotifyListener manager(address);
  asio::io_context first, second;
  const auto work = asio::make_work_guard(second);
  asio::co_spawn(first,
                 watch_over({&first, &second}, net::NotifySocket(address), std::chrono::milliseconds(1)),
                 or_abort);
  for (int turn = 0; turn < 20; ++turn) first.run_one();
  EXPECT_EQ(manager.heard(), "WATCHDOG=1");
  EXPECT_EQ(manager.heard(), "nothing") << "the second loop has done nothing since";
  second.run_one();
  while (manager.heard() == "nothing") first.run_one();
}

}  // namespace
}  // namespace reprise::server
