// Tests long downloads through the whole proxy: every byte arrives once and in order, whichever side is slow,
// leaves or breaks.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "tests/support/chance.hpp"
#include "tests/support/descriptors.hpp"
#include "tests/support/running_proxy.hpp"
#include "tests/support/scarce_descriptors.hpp"
#include "tests/support/scripted_upstream.hpp"

namespace reprise::server {
namespace {

using play::Peer;
using play::RawClient;
using play::response;
using play::RunningProxy;
using play::ScarceDescriptors;
using play::ScriptedUpstream;
using play::Wire;
using play::WireResponse;
using play::Wishes;

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

std::string noise(std::size_t bytes) {
  play::Chance dice(static_cast<unsigned>(bytes) + 1);
  std::string text(bytes, '\0');
  for (char& one : text) one = dice.byte();
  return text;
}

std::string head_of(std::size_t length) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

/// Sends the bytes in pieces of random size, with a pause after some of them.
void send_in_pieces(Peer& peer, std::string_view bytes, unsigned seed) {
  play::Chance dice(seed);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, 1 + dice.below(dice.one_in(2) ? 3000 : 400'000));
    peer.send(piece);
    bytes.remove_prefix(piece.size());
    if (dice.one_in(8)) play::yield_a_moment();
  }
}

/// Reads the head, then at most `bytes` bytes of the body in small pieces.
std::string read_slowly(RawClient& client, std::size_t bytes, unsigned seed) {
  play::Chance dice(seed);
  std::string body;
  if (!client.socket().read_until("\r\n\r\n")) return body;
  client.socket().take(client.socket().received().find("\r\n\r\n") + 4);
  while (body.size() < bytes && client.socket().read_bytes(1)) {
    const std::size_t bite = 1 + dice.below(60'000);
    body += client.socket().take(std::min(bite, client.socket().received().size()));
    if (dice.one_in(8)) play::yield_a_moment();
  }
  return body;
}

/// Shrinks the client's receive buffer, so that the kernel does not take a whole body that the client has not
/// read.
void take_little(RawClient& client) {
  const int room = 64 * 1024;
  ASSERT_EQ(::setsockopt(client.socket().descriptor(), SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
}

class Download : public ::testing::TestWithParam<std::size_t> {};
TEST_P(Download, download_of_any_size_is_complete_and_its_connections_are_reused) {
  const std::string body = noise(GetParam());
  ScriptedUpstream upstream([&](Peer& peer) {
    for (unsigned seed = 1; !peer.read_request().empty(); ++seed)
      send_in_pieces(peer, head_of(body.size()) + body, seed);
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  for (unsigned round = 0; round < 3; ++round) {
    client.send(play::get(upstream.authority()));
    EXPECT_TRUE(read_slowly(client, body.size(), round) == body) << round;
    EXPECT_EQ(client.socket().received(), "");
  }
  EXPECT_EQ(upstream.connections(), 1U);
}
INSTANTIATE_TEST_SUITE_P(ProxyDownloads, Download,
                         ::testing::Values(0, 1, 64 * kib - 1, 64 * kib, 64 * kib + 1, 256 * kib - 1,
                                           256 * kib, 256 * kib + 1, mib, 8 * mib));

TEST(ProxyDownloads, long_download_uses_a_pipe_that_is_reused_by_the_next_download) {
  const std::string body = noise(2 * mib);
  std::atomic<bool> go{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      peer.send(head_of(body.size()) + body.substr(0, mib));
      play::eventually([&] { return go.load(); });
      peer.send(body.substr(mib));
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  const std::size_t before = play::open_pipe_ends();
  for (int round = 0; round < 2; ++round) {
    go = false;
    client.send(play::get(upstream.authority()));
    EXPECT_TRUE(client.socket().read_bytes(mib));
    EXPECT_TRUE(play::eventually([&] { return play::open_pipe_ends() == before + 2; }));
    go = true;
    EXPECT_TRUE(client.read_response().body == body);
  }
}

// Covers bodies whose framing changes. They are copied, not spliced.
class Copied : public ::testing::TestWithParam<std::string> {};
TEST_P(Copied, long_bodies_without_a_content_length_are_copied_without_a_pipe) {
  const std::string body = noise(2 * mib);
  ScriptedUpstream upstream([&](Peer& peer) {
    if (peer.read_request().empty()) return;
    peer.send("HTTP/1.1 200 OK\r\n" + GetParam() + "\r\n");
    if (GetParam().empty()) return send_in_pieces(peer, body, 1);
    for (std::size_t at = 0; at < body.size(); at += 5000) {
      const std::string piece = body.substr(at, 5000);
      char line[16];
      std::snprintf(line, sizeof line, "%zx\r\n", piece.size());
      peer.send(line + piece + "\r\n");
    }
    peer.send("0\r\n\r\n");
  });
  RunningProxy proxy;
  const std::size_t before = play::open_pipe_ends();
  RawClient client = proxy.client();
  const WireResponse got = client.ask(play::get(upstream.authority()));
  EXPECT_TRUE(got.whole);
  EXPECT_TRUE(got.body == body);
  EXPECT_TRUE(play::eventually([&] { return play::open_pipe_ends() == before; }));
}
INSTANTIATE_TEST_SUITE_P(ProxyDownloads, Copied, ::testing::Values("", "Transfer-Encoding: chunked\r\n"));

class BrokenDownload : public ::testing::TestWithParam<bool> {};
TEST_P(BrokenDownload, client_gets_the_received_bytes_and_then_a_cut) {
  const std::string body = noise(4 * mib);
  play::Chance dice(7);
  for (int round = 0; round < 8; ++round) {
    const std::size_t sent = dice.below(body.size());
    std::atomic<bool> go{false};
    ScriptedUpstream upstream([&](Peer& peer) {
      if (peer.read_request().empty()) return;
      peer.send(head_of(body.size()) + body.substr(0, sent));
      play::eventually([&] { return go.load(); });
      if (GetParam()) peer.socket.reset();
    });
    RunningProxy proxy;
    RawClient client = proxy.client();
    client.send(play::get(upstream.authority()));
    const std::string got = read_slowly(client, sent, 1);
    go = true;
    EXPECT_EQ(client.socket().read_to_end(), Wire::fin) << sent;
    EXPECT_TRUE(got + client.socket().received() == body.substr(0, sent)) << sent;
    EXPECT_TRUE(play::eventually([&] {
      return proxy.metric("reprise_requests_total{route=\"default\",code=\"cut\"}") == 1;
    })) << sent;
  }
}
INSTANTIATE_TEST_SUITE_P(ProxyDownloads, BrokenDownload, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "by_a_reset" : "by_a_fin"; });

TEST(ProxyDownloads, download_that_breaks_while_the_client_still_reads_never_looks_complete) {
  const std::string body = noise(4 * mib);
  play::Chance dice(9);
  for (int round = 0; round < 8; ++round) {
    const std::size_t sent = dice.below(body.size());
    ScriptedUpstream upstream([&](Peer& peer) {
      if (peer.read_request().empty()) return;
      peer.send(head_of(body.size()) + body.substr(0, sent));
      if (round % 2 == 0) peer.socket.reset();
    });
    RunningProxy proxy;
    RawClient client = proxy.client();
    client.send(play::get(upstream.authority()));
    const std::string got = read_slowly(client, body.size(), 1);
    EXPECT_EQ(client.socket().wire(), Wire::fin);
    // After a reset, the upstream's own kernel discards the bytes that it has not sent.
    EXPECT_TRUE(round % 2 == 0 ? got.size() <= sent : got.size() == sent) << got.size() << " of " << sent;
    EXPECT_TRUE(body.starts_with(got));
  }
}

TEST(ProxyDownloads, client_reset_closes_the_upstream_connection_and_leaks_nothing) {
  // More bytes than all kernel buffers between upstream and client can hold.
  const std::string body = noise(32 * mib);
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) peer.send(head_of(body.size()) + body);
  });
  RunningProxy proxy;
  const std::size_t before = play::open_descriptors();
  for (unsigned round = 1; round <= 4; ++round) {
    RawClient leaves = proxy.client();
    take_little(leaves);
    leaves.send(play::get(upstream.authority()));
    EXPECT_TRUE(leaves.socket().read_bytes(round * mib));
    leaves.socket().reset();
    EXPECT_TRUE(play::eventually([&] { return upstream.running() == 0; }));
    // Two more descriptors may remain open: the two ends of an idle pipe that was empty when the client left.
    EXPECT_TRUE(play::eventually([&] { return play::open_descriptors() <= before + 2; }));
  }
  RawClient stays = proxy.client();
  EXPECT_TRUE(stays.ask(play::get(upstream.authority())).body == body);
}

TEST(ProxyDownloads, B11_bytes_after_a_long_body_end_the_connection_and_reach_no_client) {
  const std::string body = noise(2 * mib);
  ScriptedUpstream upstream([&](Peer& peer) {
    if (peer.read_request().empty()) return;
    peer.send(head_of(body.size()) + body + response(200, "poison"));
    peer.socket.read_to_end();
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(client.ask(play::get(upstream.authority())).body == body);
    EXPECT_EQ(client.socket().received(), "");
  }
  EXPECT_EQ(upstream.connections(), 3U);
}

TEST(ProxyDownloads, B6_stalled_long_body_is_cut) {
  const std::string body = noise(mib);
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.send(head_of(2 * mib) + body);
    peer.socket.read_to_end();
  });
  Wishes wishes;
  wishes.route.idle_timeout = std::chrono::milliseconds(500);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  const std::string got = read_slowly(client, 2 * mib, 1);
  EXPECT_EQ(client.socket().wire(), Wire::fin);
  EXPECT_TRUE(body.starts_with(got));
  EXPECT_TRUE(play::eventually([&] {
    return proxy.metric("reprise_requests_total{route=\"default\",code=\"cut\"}") == 1;
  })) << proxy.metrics();
}

TEST(ProxyDownloads, client_that_does_not_read_is_disconnected_after_idle_timeout) {
  const std::string body(64 * mib, 'x');
  ScriptedUpstream upstream([&](Peer& peer) {
    if (!peer.read_request().empty()) peer.send(head_of(body.size()) + body);
  });
  Wishes wishes;
  wishes.route.idle_timeout = std::chrono::seconds(1);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  take_little(client);
  client.send(play::get(upstream.authority()));
  EXPECT_TRUE(play::eventually([&] { return upstream.connections() == 1 && upstream.running() == 0; }));
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_LT(client.socket().received().size(), body.size());
}

TEST(ProxyDownloads, I6_download_is_copied_if_no_pipe_can_be_opened) {
  if (play::sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  const std::string body = noise(4 * mib);
  ScriptedUpstream upstream([&](Peer& peer) {
    if (!peer.read_request().empty()) peer.send(response(200, "the connection is there now"));
    while (!peer.read_request().empty()) send_in_pieces(peer, head_of(body.size()) + body, 1);
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
  const std::size_t before = play::open_pipe_ends();
  for (const rlim_t more : {rlim_t{2}, rlim_t{1}, rlim_t{0}}) {
    const ScarceDescriptors scarce(more);
    EXPECT_TRUE(client.ask(play::get(upstream.authority())).body == body);
  }
  EXPECT_EQ(play::open_pipe_ends(), before);
  EXPECT_TRUE(client.ask(play::get(upstream.authority())).body == body);
  EXPECT_EQ(play::open_pipe_ends(), before + 2);
  EXPECT_EQ(upstream.connections(), 1U);
}

}  // namespace
}  // namespace reprise::server
