#include "proxy/net/systemd/notify_socket.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/notify_listener.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/systemd/variables.hpp"

namespace reprise::net {
namespace {

using play::of;

TEST(NotifySocketTest, each_state_is_sent_as_one_datagram_to_a_path_or_abstract_name) {
  const play::OwnFolder folder;
  const std::string name = "@reprise-notify-test-" + std::to_string(::getpid());
  for (const std::string& address : {folder.path() + "/notify", name}) {
    const play::NotifyListener manager(address);
    const NotifySocket socket(address);
    EXPECT_TRUE(socket.send("READY=1"));
    EXPECT_TRUE(socket.send("STOPPING=1\nSTATUS=x"));
    EXPECT_EQ(manager.heard(), "READY=1");
    EXPECT_EQ(manager.heard(), "STOPPING=1\nSTATUS=x");
    EXPECT_EQ(manager.heard(), "nothing");
  }
}

TEST(NotifySocketTest, missing_or_invalid_socket_address_sends_nothing) {
  const play::OwnFolder folder;
  EXPECT_FALSE(NotifySocket().send("READY=1"));
  for (const std::string& address :
       {std::string(), std::string("relative"), std::string("@"), std::string("/"), folder.path() + "/nobody",
        "/" + std::string(200, 'x')})
    EXPECT_FALSE(NotifySocket(address).send("READY=1")) << address;
}

TEST(NotifySocketTest, full_socket_queue_never_blocks_the_sender) {
  const play::OwnFolder folder;
  const std::string address = folder.path() + "/notify";
  const play::NotifyListener manager(address);
  const NotifySocket socket(address);
  int told = 0;
  while (told < 100'000 && socket.send("WATCHDOG=1")) ++told;
  EXPECT_LT(told, 100'000) << "its queue is full at some time";
}

TEST(WatchdogIntervalTest, watchdog_interval_is_a_third_of_the_timeout) {
  using std::chrono::milliseconds;
  EXPECT_EQ(watchdog_interval(of({{"WATCHDOG_USEC", "30000000"}}), 7), std::chrono::seconds(10));
  EXPECT_EQ(watchdog_interval(of({{"WATCHDOG_USEC", "3000"}, {"WATCHDOG_PID", "7"}}), 7), milliseconds(1));
  EXPECT_EQ(watchdog_interval(of({{"WATCHDOG_USEC", "18446744073709551615"}}), 7), std::chrono::hours(8));
}

TEST(WatchdogIntervalTest, watchdog_is_off_for_another_process_or_an_invalid_timeout) {
  EXPECT_FALSE(watchdog_interval(of({}), 7));
  EXPECT_FALSE(watchdog_interval(of({{"WATCHDOG_USEC", "3000"}, {"WATCHDOG_PID", "8"}}), 7));
  EXPECT_FALSE(watchdog_interval(of({{"WATCHDOG_USEC", "3000"}, {"WATCHDOG_PID", ""}}), 7));
  for (const char* wrong : {"", "0", "-1", "3s", " 3", "99999999999999999999"})
    EXPECT_FALSE(watchdog_interval(of({{"WATCHDOG_USEC", wrong}}), 7)) << wrong;
}

}  // namespace
}  // namespace reprise::net
