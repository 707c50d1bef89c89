#include "proxy/net/systemd/inherited_sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/systemd/variables.hpp"

namespace reprise::net {
namespace {

using play::of;

/// Consecutive descriptors, as a service manager passes them. They begin at a number that nothing else uses.
class Passed {
 public:
  static constexpr int first = 400;
  ~Passed() {
    for (int i = 0; i < count_; ++i) ::close(first + i);
  }
  void add(int descriptor) {
    ASSERT_EQ(::dup2(descriptor, first + count_), first + count_);
    ++count_;
    ::close(descriptor);
  }
  Environment environment(const std::string& pid = "7") const {
    return of({{"LISTEN_FDS", std::to_string(count_)}, {"LISTEN_PID", pid}});
  }

 private:
  int count_ = 0;
};

int listening(const char* address) {
  asio::io_context io;
  tcp::acceptor acceptor(io, {asio::ip::make_address(address), 0});
  return acceptor.release();
}

TEST(InheritedSocketsTest, passed_sockets_are_identified_by_address_and_closed_on_exec) {
  Passed passed;
  passed.add(listening("127.0.0.1"));
  passed.add(listening("::1"));
  const InheritedSockets found = inherited_sockets(passed.environment(), 7, Passed::first);
  ASSERT_EQ(found.sockets.size(), 2U);
  EXPECT_TRUE(found.faults.empty());
  EXPECT_EQ(found.sockets[0].bound.address().to_string(), "127.0.0.1");
  EXPECT_NE(found.sockets[0].bound.port(), 0);
  EXPECT_EQ(found.sockets[1].bound.address().to_string(), "::1");
  EXPECT_EQ(found.sockets[1].descriptor, Passed::first + 1);
  EXPECT_EQ(::fcntl(Passed::first, F_GETFD), FD_CLOEXEC);
}

TEST(InheritedSocketsTest, unusable_passed_descriptors_are_closed_and_reported) {
  Passed passed;
  passed.add(::open("/dev/null", O_RDONLY));
  passed.add(::socket(AF_INET, SOCK_DGRAM, 0));
  passed.add(::socket(AF_INET, SOCK_STREAM, 0));
  passed.add(listening("127.0.0.1"));
  const InheritedSockets found = inherited_sockets(passed.environment(), 7, Passed::first);
  ASSERT_EQ(found.sockets.size(), 1U);
  EXPECT_EQ(found.sockets[0].descriptor, Passed::first + 3);
  ASSERT_EQ(found.faults.size(), 3U);
  EXPECT_NE(found.faults[0].find("descriptor 400"), std::string::npos) << found.faults[0];
  EXPECT_NE(found.faults[0].find("ListenStream"), std::string::npos) << found.faults[0];
  EXPECT_EQ(::fcntl(Passed::first, F_GETFD), -1) << "it is closed";
}

TEST(InheritedSocketsTest, sockets_passed_to_another_process_are_ignored) {
  Passed passed;
  passed.add(listening("127.0.0.1"));
  EXPECT_TRUE(inherited_sockets(passed.environment("8"), 7, Passed::first).sockets.empty());
  EXPECT_TRUE(inherited_sockets(of({{"LISTEN_FDS", "1"}}), 7, Passed::first).sockets.empty());
  EXPECT_EQ(::fcntl(Passed::first, F_GETFD), 0) << "still open, as it was";
  for (const char* wrong : {"", "-1", "x", "1001"})
    EXPECT_TRUE(
        inherited_sockets(of({{"LISTEN_FDS", wrong}, {"LISTEN_PID", "7"}}), 7, Passed::first).sockets.empty())
        << wrong;
}

}  // namespace
}  // namespace reprise::net
