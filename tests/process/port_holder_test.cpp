// Tests how the process that holds a port is found in /proc.
#include "proxy/forward/session/port_holder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace reprise::server {
namespace {

namespace fs = std::filesystem;

class PortHolderTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(proc_ + "/net"); }
  void TearDown() override { fs::remove_all(proc_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(proc_ + name, std::ios::binary) << text;
  }
  /// Writes a socket table with one socket of user 998, inode 4711. State 0A is "listening".
  void listens(const std::string& table, const std::string& local, const std::string& state = "0A") const {
    write(table,
          "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
          "   0: " +
              local + " 00000000:0000 " + state +
              " 00000000:00000000 00:00000000 00000000   998        0 4711 1\n");
  }

  const std::string proc_ = testing::TempDir() + "proc-" + std::to_string(::getpid());
  const tcp::endpoint admin_{asio::ip::make_address("127.0.0.1"), 3129};
};

TEST_F(PortHolderTest, process_is_named_with_its_command) {
  listens("/net/tcp", "0100007F:0C39");
  fs::create_directories(proc_ + "/42/fd");
  fs::create_symlink("socket:[4711]", proc_ + "/42/fd/7");
  write("/42/cmdline", std::string("reprise\0run\0-c\0a\nb\0", 19));
  EXPECT_EQ(forward::holder_of(admin_, proc_), "pid 42: reprise run -c a?b");
}

TEST_F(PortHolderTest, user_is_named_if_the_process_is_not_visible) {
  listens("/net/tcp", "00000000:0C39");
  EXPECT_EQ(forward::holder_of(admin_, proc_), "a process of user 998")
      << "every address keeps others from this one";
}

TEST_F(PortHolderTest, sockets_with_another_address_or_port_or_state_are_ignored) {
  listens("/net/tcp", "0100007F:0C3A");
  EXPECT_EQ(forward::holder_of(admin_, proc_), "") << "another port";
  listens("/net/tcp", "0200007F:0C39");
  EXPECT_EQ(forward::holder_of(admin_, proc_), "") << "another address";
  listens("/net/tcp", "0100007F:0C39", "01");
  EXPECT_EQ(forward::holder_of(admin_, proc_), "") << "an open connection";
  EXPECT_EQ(forward::holder_of(admin_, proc_ + "/none"), "");
}

TEST_F(PortHolderTest, listener_on_ipv6_is_found) {
  listens("/net/tcp6", "00000000000000000000000001000000:0C39");
  const tcp::endpoint loopback(asio::ip::make_address("::1"), 3129);
  EXPECT_EQ(forward::holder_of(loopback, proc_), "a process of user 998");
}

TEST(PortHolder, own_process_is_found) {
  asio::io_context io;
  const tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0));
  const std::string holder = forward::holder_of(acceptor.local_endpoint());
  EXPECT_EQ(holder.substr(0, holder.find(':')), "pid " + std::to_string(::getpid()));
}

}  // namespace
}  // namespace reprise::server
