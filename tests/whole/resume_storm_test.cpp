// Tests downloads that break at every byte, and at random bytes with twelve kinds of upstream. A response
// that looks complete is correct. Every other response is visibly cut.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>

#include "tests/support/chance.hpp"
#include "tests/support/range_server.hpp"
#include "tests/support/running_proxy.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scripted_upstream.hpp"

namespace reprise::server {
namespace {

using play::Peer;
using play::RangeResponse;
using play::RawClient;
using play::RunningProxy;
using play::ScriptedUpstream;
using play::WireResponse;
using play::Wishes;

constexpr unsigned storm_cuts = play::sanitized ? 2'000 : 10'000;

Wishes eager() {
  Wishes wishes;
  wishes.route.budget.reset();
  wishes.route.retry.backoff.initial = std::chrono::milliseconds(0);
  wishes.route.resume.max_attempts = 1000;
  return wishes;
}

/// Breaks one connection of an otherwise correct upstream: the n-th connection from now on ends after `bytes`
/// response bytes.
struct Plan {
  /// Number of connections until the break (1: the next connection); 0: no break.
  std::atomic<unsigned> until_break{0};
  std::atomic<std::size_t> bytes{0};
  std::atomic<bool> resets{false};
  std::atomic<std::size_t> first_bytes{std::string::npos};  ///< limit for responses to requests without Range
};

ScriptedUpstream::Script follow(Plan& plan, const std::string& body) {
  return [&plan, &body](Peer& peer) {
    const std::string head = peer.read_request();
    if (head.empty()) return;
    const std::string text = play::honest(body, head).text();
    const bool first = play::range_start(head) == std::nullopt;
    std::size_t most = first ? plan.first_bytes.load() : std::string::npos;
    const unsigned left = plan.until_break;
    if (left > 0) plan.until_break = left - 1;
    const bool breaks = left == 1;
    if (breaks) most = std::min(most, plan.bytes.load());
    peer.send(std::string_view(text).substr(0, most));
    if (breaks && plan.resets) peer.socket.reset();
  };
}

class EveryOffset : public ::testing::TestWithParam<bool> {};

TEST_P(EveryOffset, first_response_cut_at_every_offset_is_resumed) {
  const std::string body = play::representation(90);
  Plan plan;
  plan.resets = GetParam();
  ScriptedUpstream upstream(follow(plan, body));
  RunningProxy proxy(eager());
  RawClient client = proxy.client();
  const std::size_t size = play::whole_of(body).text().size();
  for (std::size_t bytes = 0; bytes <= size; ++bytes) {
    plan.bytes = bytes;
    plan.until_break = 1;
    const WireResponse got = client.ask(play::get(upstream.authority(), "/", "Connection: close\r\n"));
    ASSERT_TRUE(got.status == 200 && got.whole) << bytes;
    ASSERT_EQ(got.body, body) << bytes;
    client = proxy.client();
  }
}

TEST_P(EveryOffset, resumed_response_cut_at_every_offset_is_resumed_again) {
  const std::string body = play::representation(90);
  constexpr std::size_t first_bytes = 30;
  Plan plan;
  plan.resets = GetParam();
  plan.first_bytes = play::whole_of(body).text().size() - body.size() + first_bytes;
  ScriptedUpstream upstream(follow(plan, body));
  RunningProxy proxy(eager());
  const std::size_t size = play::rest_of(body, first_bytes).text().size();
  for (std::size_t bytes = 0; bytes <= size; ++bytes) {
    plan.bytes = bytes;
    plan.until_break = 2;
    RawClient client = proxy.client();
    const WireResponse got = client.ask(play::get(upstream.authority()));
    ASSERT_TRUE(got.status == 200 && got.whole) << bytes;
    ASSERT_EQ(got.body, body) << bytes;
  }
}

INSTANTIATE_TEST_SUITE_P(ProxyResume, EveryOffset, ::testing::Bool(),
                         [](const auto& one) { return one.param ? "rst" : "fin"; });

enum class Character : std::uint8_t {
  honest,
  whole_again,
  another_version,
  wrong_start,
  wrong_total,
  short_range,
  long_range,
  multipart,
  not_satisfiable,
  busy_first,
  weak_tag,
  knows_no_ranges,
};
constexpr std::size_t characters = 12;

/// An upstream for a few hundred downloads. Any response may break at any byte. A faulty upstream sends a
/// correct response to half of its range requests, so that chains of resumes grow long.
class Storm {
 public:
  explicit Storm(std::uint64_t seed) : dice_(seed) {}

  // Builds a response to the request, either chunked or with Content-Length, and sends a random part of it.
  void response(Peer& peer, const std::string& head) {
    std::string text;
    std::size_t sent = 0;
    bool resets = false;
    {
      const std::scoped_lock lock(mutex_);
      text = in_character(head).text();
      sent = dice_.roll(2) == 0 ? text.size() : dice_.roll(text.size());
      resets = dice_.roll(1) == 0;
      if (sent < text.size()) ++cuts;
    }
    peer.send(std::string_view(text).substr(0, sent));
    if (resets && sent < text.size()) peer.socket.reset();
  }

  // Starts a new download with another length, and with another kind of upstream (`who`).
  void next(Character who) {
    const std::scoped_lock lock(mutex_);
    who_ = who;
    busy_ = dice_.roll(2);
    body = play::representation(1 + dice_.roll(dice_.roll(9) == 0 ? 200'000 : 400));
  }

  std::string body;
  unsigned cuts = 0;

 private:
  RangeResponse in_character(const std::string& head) {
    RangeResponse response = play::honest(body, head);
    const auto first = play::range_start(head);
    if (who_ == Character::weak_tag) response.entity_tag = "W/\"v1\"";
    if (!first) return response;
    if (who_ == Character::knows_no_ranges || who_ == Character::whole_again) return play::whole_of(body);
    if (dice_.roll(1) == 0 && who_ != Character::busy_first) return response;
    lie(response, *first);
    return response;
  }

  void lie(RangeResponse& response, std::size_t first) {
    const auto range = [&](std::size_t from, std::size_t to, std::size_t of) {
      response.content_range =
          "bytes " + std::to_string(from) + "-" + std::to_string(to) + "/" + std::to_string(of);
      response.body = play::representation(of).substr(from, to - from + 1);
    };
    const std::size_t size = body.size();
    switch (who_) {
      case Character::another_version:
        response = play::whole_of(std::string(size, '~'));
        response.entity_tag = "\"v2\"";
        break;
      case Character::wrong_start: range(first == 0 ? 1 : first - 1, size - 1, size); break;
      case Character::wrong_total: range(first, size - 1, size + 1); break;
      case Character::short_range: range(first, std::max(first, size - 2), size); break;
      case Character::long_range: response.body += "and more"; break;
      case Character::multipart:
        response.content_type = "multipart/byteranges; boundary=x";
        response.body = "--x\r\nContent-Range: bytes 0-0/1\r\n\r\n!\r\n--x--\r\n";
        break;
      case Character::not_satisfiable:
        response.status = 416;
        response.content_range = "bytes */" + std::to_string(size);
        break;
      case Character::busy_first:
        if (busy_ == 0) break;
        --busy_;
        response = play::whole_of("busy");
        response.status = 503;
        break;
      case Character::honest:
      case Character::whole_again:
      case Character::weak_tag:
      case Character::knows_no_ranges: break;
    }
  }

  std::mutex mutex_;
  play::Chance dice_;
  Character who_ = Character::honest;
  std::uint64_t busy_ = 0;
};

TEST(ProxyResumeStorm, complete_downloads_are_correct_and_all_others_are_visibly_cut) {
  RunningProxy proxy(eager());
  std::array<unsigned, characters> whole{};
  std::array<unsigned, characters> cut{};
  unsigned cuts = 0;
  for (std::uint64_t seed = 1; cuts < storm_cuts; ++seed) {
    Storm storm(seed);
    ScriptedUpstream upstream([&](Peer& peer) {
      const std::string head = peer.read_request();
      if (!head.empty()) storm.response(peer, head);
    });
    for (std::size_t i = 0; i < 10 * characters; ++i) {
      const std::size_t who = i % characters;
      storm.next(static_cast<Character>(who));
      RawClient client = proxy.client();
      const WireResponse got = client.ask(play::get(upstream.authority()));
      // If no attempt delivers a complete head, the client gets a 502, because retries before the head are
      // limited.
      if (got.status != 200) continue;
      if (got.whole) {
        ++whole[who];
        ASSERT_TRUE(got.body == storm.body) << "seed " << seed << ", download " << i;
      } else {
        ++cut[who];
        ASSERT_TRUE(storm.body.starts_with(got.body)) << "seed " << seed << ", download " << i;
        ASSERT_EQ(client.socket().read_to_end(), play::Wire::fin) << "seed " << seed << ", download " << i;
      }
    }
    cuts += storm.cuts;
  }
  for (std::size_t who = 0; who < characters; ++who) EXPECT_GT(whole[who], 0U) << who;
  // No download is lost if its upstream only breaks connections or sends the whole representation again.
  for (const Character who :
       {Character::honest, Character::whole_again, Character::busy_first, Character::knows_no_ranges}) {
    EXPECT_EQ(cut[static_cast<std::size_t>(who)], 0U) << static_cast<int>(who);
  }
  for (const Character who :
       {Character::another_version, Character::wrong_start, Character::wrong_total, Character::long_range,
        Character::multipart, Character::not_satisfiable, Character::weak_tag}) {
    EXPECT_GT(cut[static_cast<std::size_t>(who)], 0U) << static_cast<int>(who);
  }
}

}  // namespace
}  // namespace reprise::server
