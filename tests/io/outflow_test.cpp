// What the kernel tells of bytes on their way: taken, or waiting for the other side.
#include "proxy/io/outflow.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "tests/support/raw_socket.hpp"
#include "tests/support/scripted_upstream.hpp"
#include "tests/support/silent_port.hpp"

namespace reprise::net {
namespace {

using play::Peer;
using play::RawSocket;
using play::ScriptedUpstream;

bool settles(int descriptor, bool waits) {
  return play::eventually([&] { return outflow_of(descriptor).waits == waits; });
}

TEST(Outflow, L6_what_the_other_host_has_is_taken_read_or_not) {
  ScriptedUpstream upstream([](Peer& peer) { peer.socket.read_to_end(); });
  RawSocket near = RawSocket::connect_to(upstream.port());
  const std::uint64_t before = outflow_of(near.descriptor()).taken;
  near.send(std::string(1000, 'x'));
  EXPECT_TRUE(settles(near.descriptor(), false));
  EXPECT_EQ(outflow_of(near.descriptor()).taken - before, 1000U);
}

TEST(Outflow, L6_what_a_shut_window_keeps_back_waits) {
  const play::SilentPort port;
  const RawSocket near = RawSocket::connect_to(port.number());
  const std::string much(256 * 1024, 'x');
  ssize_t sent = 1;
  while (sent > 0) sent = ::send(near.descriptor(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  const Outflow full = outflow_of(near.descriptor());
  EXPECT_TRUE(full.waits);
  EXPECT_GT(full.taken, 0U);
}

TEST(Outflow, where_there_is_no_tcp_nothing_waits) {
  const Outflow none = outflow_of(-1);
  EXPECT_FALSE(none.waits);
  EXPECT_EQ(none.taken, 0U);
}

}  // namespace
}  // namespace reprise::net
