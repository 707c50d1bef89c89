// Tests replay of request bodies from disk: exact at every limit, never truncated, and never a reason for a
// request to fail.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "proxy/http/http1/chunked.hpp"
#include "tests/replay/replay_bench.hpp"
#include "tests/support/descriptors.hpp"
#include "tests/support/http_reader.hpp"
#include "tests/support/running_proxy.hpp"
#include "tests/support/scripted_upstream.hpp"

namespace reprise::server {
namespace {

using play::Heard;
using play::Peer;
using play::RawClient;
using play::response;
using play::RunningProxy;
using play::ScriptedDisk;
using play::ScriptedUpstream;
using play::WireResponse;
using play::Wishes;

constexpr std::size_t memory_limit = 20'000;
constexpr std::size_t disk_limit = 200'000;

std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('!' + (i * 7 + i / 93) % 90);
  return text;
}

std::string head_of(const std::string& authority, std::string_view fields) {
  return "PUT http://" + authority + "/ HTTP/1.1\r\nHost: " + authority + "\r\n" + std::string(fields) +
         "\r\n";
}

std::string chunked_request(const std::string& authority, std::string_view body, std::size_t chunk,
                            std::string_view fields = {}) {
  std::string request =
      head_of(authority, std::string(fields) + "Trailer: X-Sum\r\nTransfer-Encoding: chunked\r\n");
  for (std::size_t i = 0; i < body.size(); i += chunk) {
    const std::string_view part = body.substr(i, chunk);
    http::write_chunk_size(part.size(), request);
    request.append(part).append("\r\n");
  }
  return request += "0\r\nX-Sum: 9\r\n\r\n";
}

/// Returns the body of a request without chunk framing. After a complete chunked body, adds `+` and the
/// trailers.
std::string body_in(const std::string& request) {
  const play::Message message = play::message_in(request);
  return message.chunked && message.whole ? message.body + "+" + message.trailers : message.body;
}

/// A proxy with its own scripted disk.
struct World {
  World() {
    wishes.route.replay_memory_bytes = memory_limit;
    wishes.route.replay_disk_bytes = disk_limit;
    wishes.files = disk.calls();
  }
  ~World() { disk.loosen(); }
  RunningProxy& proxy() {
    if (!running) running = std::make_unique<RunningProxy>(wishes);
    return *running;
  }
  bool everything_is_given_back() {
    return play::eventually([&] {
      return proxy().metric("reprise_replay_bytes{store=\"memory\"}") == 0 &&
             proxy().metric("reprise_replay_bytes{store=\"disk\"}") == 0;
    });
  }

  ScriptedDisk disk;
  Wishes wishes;
  std::unique_ptr<RunningProxy> running;
};

/// Responds to the n-th request with the n-th status of the list. The last status repeats.
ScriptedUpstream::Script statuses(Heard& heard, std::vector<int> in_turn) {
  return [&heard, in_turn](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      const int status = in_turn[std::min(heard.size(), in_turn.size() - 1)];
      heard.add(got);
      peer.send(response(status, "told"));
    }
  };
}

TEST(ProxyReplay, D5_body_is_replayed_up_to_each_limit_and_not_beyond) {
  for (const std::size_t limit : {memory_limit, disk_limit}) {
    for (const std::size_t bytes : {limit - 1, limit, limit + 1}) {
      for (const bool chunked : {false, true}) {
        World world;
        Heard heard;
        ScriptedUpstream upstream(statuses(heard, {503, 503, 200}));
        const std::string body = pattern(bytes);
        const WireResponse got =
            world.proxy().client().ask(chunked ? chunked_request(upstream.authority(), body, 7001)
                                               : play::with_body("PUT", upstream.authority(), body));
        const bool held = bytes <= disk_limit;
        EXPECT_EQ(got.status, held ? 200 : 503) << bytes << chunked;
        EXPECT_EQ(got.field("Reprise-Reason"), held ? "" : "not_replayable") << bytes << chunked;
        ASSERT_EQ(heard.size(), held ? 3U : 1U) << bytes << chunked;
        for (std::size_t i = 0; i < heard.size(); ++i) {
          EXPECT_TRUE(body_in(heard.at(i)) == body + (chunked ? "+X-Sum: 9\r\n" : "")) << bytes << chunked;
        }
        // A body that fits in memory, or is known to be too long, is not written to disk.
        const bool on_disk = bytes > memory_limit && held;
        if (held || !chunked) {
          EXPECT_EQ(world.disk.written > 0, on_disk) << bytes << chunked;
        }
        EXPECT_TRUE(world.everything_is_given_back());
      }
    }
  }
}

TEST(ProxyReplay, D5_body_sent_byte_by_byte_over_the_memory_limit_is_replayed) {
  World world;
  world.wishes.route.replay_memory_bytes = 1000;
  Heard heard;
  ScriptedUpstream upstream(statuses(heard, {503, 200}));
  const std::string body = pattern(3000);
  for (const std::string& request :
       {play::with_body("PUT", upstream.authority(), body), chunked_request(upstream.authority(), body, 1)}) {
    RawClient client = world.proxy().client();
    client.socket().send_bytewise(request);
    EXPECT_EQ(client.read_response().status, 200);
  }
  ASSERT_EQ(heard.size(), 3U);
  for (std::size_t i = 0; i < heard.size(); ++i) EXPECT_TRUE(body_in(heard.at(i)).starts_with(body));
  EXPECT_TRUE(body_in(heard.at(2)).ends_with("+X-Sum: 9\r\n"));
}

TEST(ProxyReplay, long_body_is_identical_in_all_three_attempts) {
  World world;
  world.wishes.route.replay_disk_bytes = 64 << 20;
  Heard heard;
  ScriptedUpstream upstream(statuses(heard, {503, 500, 200}));
  const std::string body = pattern(20 << 20);
  const WireResponse got = world.proxy().client().ask(play::with_body("PUT", upstream.authority(), body));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.field("Reprise-Attempts"), "3");
  ASSERT_EQ(heard.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(body_in(heard.at(i)) == body);
  EXPECT_TRUE(world.everything_is_given_back());
}

TEST(ProxyReplay, D16_request_with_cache_control_no_store_is_not_written_to_disk) {
  for (const std::size_t bytes : {memory_limit, memory_limit + 1}) {
    for (const bool chunked : {false, true}) {
      World world;
      Heard heard;
      ScriptedUpstream upstream(statuses(heard, {503, 200}));
      constexpr std::string_view field = "Cache-Control: max-age=0, No-Store\r\n";
      const std::string body = pattern(bytes);
      const WireResponse got =
          world.proxy().client().ask(chunked ? chunked_request(upstream.authority(), body, 5000, field)
                                             : play::with_body("PUT", upstream.authority(), body, field));
      const bool held = bytes <= memory_limit;
      EXPECT_EQ(got.status, held ? 200 : 503) << bytes << chunked;
      EXPECT_EQ(got.field("Reprise-Reason"), held ? "" : "not_replayable") << bytes << chunked;
      EXPECT_EQ(world.disk.written, 0U);
      EXPECT_TRUE(world.everything_is_given_back());
    }
  }
}

struct Defect {
  const char* name;
  void (*plant)(ScriptedDisk&);
};
class BrokenDisk : public ::testing::TestWithParam<Defect> {};
TEST_P(BrokenDisk, D17_request_continues_without_replay_when_the_disk_fails) {
  for (const bool chunked : {false, true}) {
    World world;
    world.wishes.route.replay_disk_bytes = 10 << 20;
    GetParam().plant(world.disk);
    Heard heard;
    ScriptedUpstream upstream(statuses(heard, {503, 200}));
    const std::string body = pattern(1 << 20);
    const std::string request = chunked ? chunked_request(upstream.authority(), body, 30'000)
                                        : play::with_body("PUT", upstream.authority(), body);
    const WireResponse refused = world.proxy().client().ask(request);
    EXPECT_EQ(refused.status, 503);
    EXPECT_EQ(refused.body, "told");
    EXPECT_EQ(refused.field("Reprise-Reason"), "not_replayable");
    EXPECT_EQ(refused.field("Reprise-Attempts"), "1");
    EXPECT_EQ(world.proxy().client().ask(request).status, 200);
    ASSERT_EQ(heard.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(body_in(heard.at(i)).starts_with(body));
    EXPECT_TRUE(world.everything_is_given_back());
    EXPECT_EQ(
        world.proxy().metric("reprise_retries_refused_total{route=\"default\",reason=\"not_replayable\"}"),
        1);
  }
}
INSTANTIATE_TEST_SUITE_P(
    ProxyReplay, BrokenDisk,
    ::testing::Values(Defect{"read_only", [](ScriptedDisk& disk) { disk.open_error = EROFS; }},
                      Defect{"no_descriptor",
                             [](ScriptedDisk& disk) { disk.open_error = EMFILE; }},  // row I6
                      Defect{"full_at_once", [](ScriptedDisk& disk) { disk.room = 0; }},
                      Defect{"full_in_the_middle", [](ScriptedDisk& disk) { disk.room = 300'001; }},
                      Defect{"full_at_the_last_byte", [](ScriptedDisk& disk) { disk.room = (1 << 20) - 1; }},
                      Defect{"broken",
                             [](ScriptedDisk& disk) {
                               disk.room = 100'000;
                               disk.write_error = EIO;
                             }}),
    [](const auto& tested) { return tested.param.name; });

TEST(ProxyReplay, D17_short_writes_and_reads_are_harmless) {
  World world;
  world.disk.at_once = 777;
  Heard heard;
  ScriptedUpstream upstream(statuses(heard, {503, 200}));
  const std::string body = pattern(150'000);
  EXPECT_EQ(world.proxy().client().ask(play::with_body("PUT", upstream.authority(), body)).status, 200);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_TRUE(body_in(heard.at(1)) == body);
}

// The second attempt is cut in the middle of its body, so that the upstream cannot take it for complete.
TEST(ProxyReplay, D17_stored_body_that_cannot_be_read_back_aborts_the_attempt) {
  for (const bool chunked : {false, true}) {
    for (const bool responded : {false, true}) {
      World world;
      world.disk.readable = 140'000;
      Heard heard;
      Heard cut;
      ScriptedUpstream upstream([&](Peer& peer) {
        if (peer.number == 1) {
          heard.add(peer.read_request());
          return responded ? peer.send(response(503, "kept", "Connection: close\r\n")) : peer.socket.reset();
        }
        peer.socket.read_to_end();
        cut.add(peer.socket.take_all());
      });
      const std::string body = pattern(190'000);
      const WireResponse got =
          world.proxy().client().ask(chunked ? chunked_request(upstream.authority(), body, 30'000)
                                             : play::with_body("PUT", upstream.authority(), body));
      EXPECT_EQ(got.status, responded ? 503 : 502);
      EXPECT_EQ(got.field("Reprise-Reason"), "not_replayable");
      EXPECT_EQ(got.field("Reprise-Attempts"), "2");
      if (responded) {
        EXPECT_EQ(got.body, "kept");
      }
      if (!responded) {
        EXPECT_NE(got.body.find("could not be read back"), std::string::npos) << got.body;
      }
      ASSERT_TRUE(play::eventually([&] { return cut.size() == 1; }));
      const std::string sent = body_in(cut.at(0));
      EXPECT_LT(sent.size(), body.size());
      EXPECT_TRUE(body.starts_with(sent));
      EXPECT_FALSE(cut.at(0).ends_with("0\r\n\r\n"));
      EXPECT_EQ(upstream.connections(), 2U);
      EXPECT_TRUE(world.everything_is_given_back());
    }
  }
}

TEST(ProxyReplay, D17_replay_works_again_after_a_removed_replay_folder_is_created_again) {
  const play::OwnFolder folder;
  World world;
  world.wishes.settings.limits.replay_folder = folder.path();
  const std::string body = pattern(100'000);
  const auto status_of_upload = [&] {
    Heard heard;
    ScriptedUpstream upstream(statuses(heard, {503, 200}));
    return world.proxy().client().ask(play::with_body("PUT", upstream.authority(), body)).status;
  };
  EXPECT_EQ(status_of_upload(), 200);
  EXPECT_TRUE(folder.empty());
  folder.remove();
  EXPECT_EQ(status_of_upload(), 503);
  folder.make();
  EXPECT_EQ(status_of_upload(), 200);
}

TEST(ProxyReplay, disk_space_used_by_one_request_is_released_for_the_next) {
  World world;
  world.wishes.settings.limits.replay_disk_bytes = 250'000;
  std::atomic<bool> go_on{false};
  ScriptedUpstream slow([&](Peer& peer) {
    peer.read_request();
    play::eventually([&] { return go_on.load(); });
    peer.send(response(200, "late"));
  });
  Heard heard;
  ScriptedUpstream upstream(statuses(heard, {503, 503, 200}));
  const std::string body = pattern(150'000);
  RawClient first = world.proxy().client();
  first.send(play::with_body("PUT", slow.authority(), body));
  ASSERT_TRUE(play::eventually(
      [&] { return world.proxy().metric("reprise_replay_bytes{store=\"disk\"}") == 150'000; }));
  const WireResponse refused = world.proxy().client().ask(play::with_body("PUT", upstream.authority(), body));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.field("Reprise-Reason"), "not_replayable");
  go_on = true;
  EXPECT_EQ(first.read_response().body, "late");
  EXPECT_TRUE(world.everything_is_given_back());
  EXPECT_EQ(world.proxy().client().ask(play::with_body("PUT", upstream.authority(), body)).status, 200);
}

TEST(ProxyReplay, body_is_not_written_to_disk_if_replay_is_disabled_or_the_request_is_never_retried) {
  for (void (*const change)(Wishes&) : {
           +[](Wishes& wishes) { wishes.settings.limits.replay_disk_bytes = 0; },
           +[](Wishes& wishes) { wishes.route.replay_disk_bytes = 0; },
           +[](Wishes& wishes) { wishes.route.mode = policy::Mode::off; },
           +[](Wishes& wishes) { wishes.route.mode = policy::Mode::observe; },
           +[](Wishes& wishes) { wishes.route.retry.max_attempts = 1; },
           +[](Wishes& wishes) { wishes.route.idempotent.kind = policy::IdempotencyRule::Kind::never; },
       }) {
    World world;
    change(world.wishes);
    Heard heard;
    ScriptedUpstream upstream(statuses(heard, {503}));
    const std::string body = pattern(100'000);
    const WireResponse got = world.proxy().client().ask(play::with_body("PUT", upstream.authority(), body));
    EXPECT_EQ(got.status, 503);
    EXPECT_EQ(heard.size(), 1U);
    EXPECT_EQ(world.disk.written, 0U);
  }
}

TEST(ProxyReplay, C7_retry_after_an_early_503_sends_the_stored_bytes_and_then_the_rest_of_the_body) {
  for (const bool chunked : {false, true}) {
    World world;
    Heard heard;
    ScriptedUpstream upstream([&](Peer& peer) {
      if (peer.number == 1) {
        peer.read_head();
        peer.socket.read_bytes(60'000);
        peer.send(response(503, "busy"));
        peer.socket.read_to_end();
        return;
      }
      heard.add(peer.read_request());
      peer.send(response(200, "done"));
    });
    const std::string body = pattern(180'000);
    const std::string request = chunked ? chunked_request(upstream.authority(), body, 10'000)
                                        : play::with_body("PUT", upstream.authority(), body);
    RawClient client = world.proxy().client();
    client.send(request.substr(0, 100'000));
    ASSERT_TRUE(play::eventually([&] { return upstream.connections() == 2; }));
    client.send(request.substr(100'000));
    const WireResponse got = client.read_response();
    EXPECT_EQ(got.status, 200);
    ASSERT_EQ(heard.size(), 1U);
    EXPECT_TRUE(body_in(heard.at(0)) == body + (chunked ? "+X-Sum: 9\r\n" : ""));
  }
}

TEST(ProxyReplay, clients_that_leave_during_disk_writes_leak_nothing) {
  World world;
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_head();
    peer.socket.read_to_end();
  });
  const std::string request = play::with_body("PUT", upstream.authority(), pattern(190'000));
  EXPECT_EQ(world.proxy().metric("reprise_client_connections"), 0);
  const std::size_t before = play::open_descriptors();
  world.disk.stick();
  for (std::size_t i = 0; i < 30; ++i) {
    RawClient client = world.proxy().client();
    client.send(request.substr(0, request.size() - 1 - i * 5000));
    if (i % 3 == 0) {
      ASSERT_TRUE(play::eventually([&] { return world.disk.waiting() > 0; }));
    }
    if (i % 2 == 0) client.socket().reset();
  }
  world.disk.loosen();
  EXPECT_TRUE(world.everything_is_given_back());
  EXPECT_TRUE(play::eventually([&] { return world.proxy().metric("reprise_client_connections") == 0; }));
  EXPECT_TRUE(play::eventually([&] { return play::open_descriptors() <= before; }));
}

TEST(ProxyReplay, shutdown_during_disk_writes_completes) {
  World world;
  ScriptedUpstream upstream([](Peer& peer) { peer.socket.read_to_end(); });
  world.wishes.settings.shutdown.grace = Duration::zero();
  world.disk.stick();
  RawClient client = world.proxy().client();
  client.send(play::with_body("PUT", upstream.authority(), pattern(190'000)));
  ASSERT_TRUE(play::eventually([&] { return world.disk.waiting() > 0; }));
  world.proxy().stop();
  world.proxy().join();
  world.disk.loosen();
  world.running.reset();
  EXPECT_NE(client.socket().read_to_end(), play::Wire::open);
}

// The upstream gets all bytes although the disk has accepted none: a slow disk adds no latency.
TEST(ProxyReplay, stuck_disk_does_not_delay_a_body_that_fits_in_the_write_buffers) {
  World world;
  world.disk.stick();
  Heard heard;
  ScriptedUpstream upstream(statuses(heard, {200}));
  const std::string body = pattern(150'000);
  const WireResponse got = world.proxy().client().ask(play::with_body("PUT", upstream.authority(), body));
  EXPECT_EQ(got.status, 200);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_TRUE(body_in(heard.at(0)) == body);
  world.disk.loosen();
  EXPECT_TRUE(world.everything_is_given_back());
}

}  // namespace
}  // namespace reprise::server
