// Tests the number of bytes that were written to a connection and are not acknowledged.
#include "proxy/net/io/outflow.hpp"

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

TEST(Outflow, L6_bytes_received_by_the_peer_host_count_as_acknowledged) {
  ScriptedUpstream upstream([](Peer& peer) { peer.socket.read_to_end(); });
  RawSocket near = RawSocket::connect_to(upstream.port());
  near.send(std::string(1000, 'x'));
  EXPECT_TRUE(play::eventually([&] { return unacknowledged_of(near.descriptor()) == 0; }));
}

TEST(Outflow, L6_closed_receive_window_leaves_only_some_bytes_unacknowledged) {
  const play::SilentPort port;
  const RawSocket near = RawSocket::connect_to(port.number());
  const std::string much(256 * 1024, 'x');
  std::uint64_t written = 0;
  ssize_t sent = 1;
  while (sent > 0) {
    sent = ::send(near.descriptor(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) written += static_cast<std::uint64_t>(sent);
  }
  EXPECT_GT(unacknowledged_of(near.descriptor()), 0U);
  EXPECT_LT(unacknowledged_of(near.descriptor()), written);
}

TEST(Outflow, non_tcp_descriptor_has_no_unacknowledged_bytes) { EXPECT_EQ(unacknowledged_of(-1), 0U); }

}  // namespace
}  // namespace reprise::net
