// Tests the limit on the bytes that streams hold (row M103), with upstreams that send all that they may.
#include "proxy/http/http2/stream_memory.hpp"

#include <map>
#include <thread>

#include "tests/support/http2_wire.hpp"

namespace reprise::http {
namespace {

using namespace play;

constexpr std::size_t kib = 1024;
constexpr std::size_t least = StreamWindow::least;
constexpr std::size_t full = StreamWindow::most;
constexpr std::size_t most_frame = 16384;

/// An upstream that knows its windows from the frames of the proxy, and uses all of them.
class GreedyUpstream {
 public:
  explicit GreedyUpstream(StreamMemory& memory) : bench_(memory) {
    read_frames();
    bench_.wire.receive(settings() + frame(FrameType::settings, ack, 0, ""));
    read_frames();
  }

  /// Receives a request, and sends the head of its response.
  StreamId begin() {
    const StreamId id = bench_.open();
    windows_[id] += initial_window_;
    read_frames();
    bench_.wire.receive(headers(id, {{":status", "200"}}));
    std::array<char, 256> head{};
    bench_.wire.take_heads(id, head.data(), head.size());
    return id;
  }
  /// Sends as many bytes of the body as the windows allow. `padding`: bytes of padding in each frame. Returns
  /// the number of bytes without padding.
  std::size_t fill(StreamId id, std::size_t padding = 0) {
    std::size_t sent = 0;
    const std::size_t extra = padding == 0 ? 0 : padding + 1;
    for (;;) {
      const auto window = static_cast<std::size_t>(std::min(windows_[id], windows_[0]));
      if (window <= extra) break;
      const std::size_t bytes = std::min(window - extra, padding == 0 ? most_frame : 1);
      const std::string body(bytes, 'x');
      const std::string rest(padding, '\0');
      bench_.wire.receive(padding == 0 ? data(id, body)
                                       : frame(FrameType::data, padded, id,
                                               std::string(1, static_cast<char>(padding)) + body + rest));
      windows_[id] -= static_cast<std::int64_t>(bytes + extra);
      windows_[0] -= static_cast<std::int64_t>(bytes + extra);
      sent += bytes;
      read_frames();
    }
    return sent;
  }
  /// Passes on what has arrived on the stream. Returns the number of bytes.
  std::size_t pass_on(StreamId id) {
    const std::size_t bytes = bench_.pass_on(id).size();
    read_frames();
    return bytes;
  }
  std::size_t unread(StreamId id) { return wire().message(id).body.size(); }
  std::int64_t window(StreamId id) { return windows_[id]; }
  std::size_t window_updates() const { return window_updates_; }
  UpstreamWire& wire() { return bench_.wire; }

  void read_frames() {
    for (const Frame& sent : bench_.flush()) {
      if (sent.type == FrameType::window_update) {
        windows_[sent.stream] += read_big_endian(sent.payload);
        window_updates_ += sent.stream == 0 ? 0 : 1;
      }
      if (sent.type != FrameType::settings || (sent.flags & ack) != 0) continue;
      for (std::size_t at = 0; at < sent.payload.size(); at += 6) {
        const std::string_view entry = std::string_view(sent.payload).substr(at, 6);
        if (read_big_endian(entry.substr(0, 2)) == 4) initial_window_ = read_big_endian(entry.substr(2));
      }
    }
  }

 private:
  WireBench bench_;
  std::int64_t initial_window_ = 65535;
  std::map<StreamId, std::int64_t> windows_{{0, 65535}};
  std::size_t window_updates_ = 0;
};

TEST(StreamMemory, grants_what_is_free_unless_it_is_less_than_the_least_share) {
  StreamMemory memory(100 * kib);
  EXPECT_EQ(memory.take(60 * kib), 60 * kib);
  EXPECT_EQ(memory.take(60 * kib), 40 * kib);
  EXPECT_TRUE(memory.is_used_up());
  EXPECT_EQ(memory.take(kib), 0U);
  memory.add(-15 * static_cast<std::int64_t>(kib));
  EXPECT_EQ(memory.take(kib), 0U) << "15 KiB are free";
  memory.add(-static_cast<std::int64_t>(kib));
  EXPECT_EQ(memory.take(60 * kib), 16 * kib);
}

TEST(StreamMemory, lowered_limit_applies_at_once_although_more_is_held) {
  StreamMemory memory(100 * kib);
  EXPECT_EQ(memory.take(80 * kib), 80 * kib);
  memory.set_most(50 * kib);
  EXPECT_TRUE(memory.is_used_up());
  EXPECT_EQ(memory.held(), 80 * kib);
  memory.add(-60 * static_cast<std::int64_t>(kib));
  EXPECT_EQ(memory.take(80 * kib), 30 * kib);
}

TEST(StreamMemory, threads_together_are_never_granted_more_than_the_limit) {
  constexpr std::int64_t limit = 100 * kib;
  StreamMemory memory(limit);
  std::atomic<std::int64_t> granted{0};
  std::atomic<int> excesses{0};
  const auto work = [&] {
    for (int i = 0; i < 20'000; ++i) {
      const auto taken = static_cast<std::int64_t>(memory.take(40 * kib));
      if (granted.fetch_add(taken) + taken > limit) ++excesses;
      granted.fetch_sub(taken);
      memory.add(-taken);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(excesses, 0);
  EXPECT_EQ(memory.held(), 0U);
}

TEST(StreamWindows, M103_stream_gets_the_full_window_with_its_request_while_memory_is_plentiful) {
  StreamMemory memory(2 * full);
  GreedyUpstream upstream(memory);
  const StreamId first = upstream.begin();
  EXPECT_EQ(upstream.window(first), full);
  EXPECT_EQ(memory.held(), full - least);
  const StreamId second = upstream.begin();
  EXPECT_EQ(upstream.window(second), full) << "half of the limit was free";
  const StreamId third = upstream.begin();
  EXPECT_EQ(upstream.window(third), least);
  EXPECT_EQ(upstream.fill(first), full);
  EXPECT_EQ(upstream.fill(third), least);
}

TEST(StreamWindows, M103_long_response_gets_a_larger_window_if_memory_is_free_then) {
  StreamMemory memory(2 * full);
  ASSERT_EQ(memory.take(full), full);
  GreedyUpstream upstream(memory);
  const StreamId id = upstream.begin();
  EXPECT_EQ(upstream.window(id), least) << "memory is not plentiful";
  upstream.wire().receive(data(id, std::string(least / 2 - 1, 'x')));
  upstream.pass_on(id);
  EXPECT_EQ(upstream.window_updates(), 0U) << "a short response needs no larger window";
  upstream.wire().receive(data(id, "x"));
  upstream.pass_on(id);
  EXPECT_EQ(memory.held(), full + full - least);
}

TEST(StreamWindows, M103_window_shrinks_at_the_limit_and_grows_when_memory_is_free_again) {
  int reports = 0;
  StreamMemory memory(full - least, [&] { ++reports; });
  GreedyUpstream upstream(memory);
  const StreamId id = upstream.begin();
  EXPECT_EQ(upstream.fill(id), full) << "it has taken the whole limit";
  EXPECT_EQ(upstream.pass_on(id), full);
  EXPECT_EQ(upstream.window(id), least);
  EXPECT_EQ(memory.held(), 0U);
  ASSERT_EQ(memory.take(full - least), full - least);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(upstream.fill(id), least);
    EXPECT_EQ(upstream.pass_on(id), least);
  }
  EXPECT_EQ(reports, 1) << "once for the stream";
  memory.add(-static_cast<std::int64_t>(full - least));
  EXPECT_EQ(upstream.fill(id), least);
  upstream.pass_on(id);
  EXPECT_EQ(upstream.fill(id), full);
}

TEST(StreamWindows, M103_padded_frames_do_not_close_a_small_window_for_ever) {
  StreamMemory memory(full - least);
  GreedyUpstream upstream(memory);
  const StreamId id = upstream.begin();
  upstream.fill(id);
  upstream.pass_on(id);
  ASSERT_EQ(memory.take(full), full - least);
  for (int i = 0; i < 4; ++i) {
    EXPECT_GT(upstream.fill(id, 255), 0U) << i;
    EXPECT_EQ(upstream.window(id) / 257, 0) << "padding is given back at once";
    upstream.pass_on(id);
    EXPECT_GE(upstream.window(id), least / 2 - 256) << i;
  }
}

// Plays an upstream on each of 4 connections with 25 streams. Every stream is read for a while, then none.
class ManyStreams : public ::testing::Test {
 protected:
  static constexpr std::size_t connections = 4;
  static constexpr std::size_t streams = 25;

  /// Opens all streams, with that limit.
  void begin(std::size_t most) {
    memory.set_most(most);
    for (std::size_t i = 0; i < connections; ++i) {
      upstreams.push_back(std::make_unique<GreedyUpstream>(memory));
      for (std::size_t j = 0; j < streams; ++j) all.emplace_back(upstreams.back().get(), 0);
    }
    for (auto& [upstream, id] : all) id = upstream->begin();
  }
  void read_all() {
    for (const auto& [upstream, id] : all) upstream->pass_on(id);
  }
  /// Returns how many bytes the connections hold when no upstream may send any more.
  std::size_t fill_all() {
    std::size_t unread = 0;
    for (const auto& [upstream, id] : all) {
      upstream->fill(id);
      unread += upstream->unread(id);
    }
    return unread;
  }

  int reports = 0;
  StreamMemory memory{0, [this] { ++reports; }};
  std::vector<std::unique_ptr<GreedyUpstream>> upstreams;
  std::vector<std::pair<GreedyUpstream*, StreamId>> all;
};

TEST_F(ManyStreams, M103_hold_their_windows_while_memory_is_plentiful) {
  begin(100 * 2 * full);
  EXPECT_EQ(fill_all(), connections * streams * full);
}

TEST_F(ManyStreams, M103_hold_at_most_the_limit_and_the_least_windows_when_no_stream_is_read) {
  constexpr std::size_t limit = 1024 * kib;
  constexpr std::size_t bound = limit + connections * streams * least;
  begin(limit);
  for (int round = 0; round < 10; ++round) {
    EXPECT_LE(fill_all(), bound);
    EXPECT_LE(memory.held(), bound);
    read_all();
  }
  const std::size_t unread = fill_all();
  EXPECT_LE(unread, bound);
  EXPECT_GE(unread, limit) << "the limit is used";
  EXPECT_GE(memory.held(), unread);
  EXPECT_GT(reports, 0);
  EXPECT_LE(reports, static_cast<int>(all.size()));
}

TEST_F(ManyStreams, M103_each_stream_makes_progress_at_the_limit) {
  begin(1024 * kib);
  fill_all();
  for (int round = 0; round < 20; ++round) {
    for (const auto& [upstream, id] : all) {
      EXPECT_GT(upstream->pass_on(id), 0U);
      EXPECT_GE(upstream->fill(id), least / 2) << "round " << round;
    }
  }
}

TEST_F(ManyStreams, M103_give_everything_back_however_they_end) {
  begin(1024 * kib);
  fill_all();
  for (std::size_t i = 0; i < streams; ++i) {
    const auto [upstream, id] = all[i];
    upstream->wire().receive(i % 2 == 0 ? data(id, "", end_stream) : rst_stream(id, 2));
    upstream->pass_on(id);
    upstream->wire().release(id);
  }
  for (std::size_t i = streams; i < 2 * streams; ++i) all[i].first->wire().release(all[i].second);
  upstreams[2]->wire().connection_ended();
  for (std::size_t i = 2 * streams; i < 3 * streams; ++i) all[i].first->pass_on(all[i].second);
  upstreams[3].reset();
  EXPECT_EQ(memory.held(), 0U);
}

TEST(StreamWindows, M103_heads_and_trailers_count_until_the_stream_is_released) {
  StreamMemory memory(0);
  WireBench bench(memory);
  bench.connect();
  const StreamId id = bench.ask();
  bench.wire.receive(headers(id, {{":status", "103"}}) + headers(id, {{":status", "200"}}) + data(id, "abc") +
                     headers(id, {{"x-sum", "7"}}, end_stream));
  const Http2Message& response = bench.wire.message(id);
  EXPECT_EQ(memory.held(), response.heads.size() + 3 + response.trailers.size());
  std::array<char, 1000> head{};
  EXPECT_EQ(bench.wire.take_heads(id, head.data(), 10), 10U);
  EXPECT_EQ(std::string_view(head.data(), 10), "HTTP/1.1 1");
  const std::size_t rest = bench.wire.take_heads(id, head.data(), head.size());
  EXPECT_EQ(memory.held(), 3 + response.trailers.size()) << "after " << rest << " more bytes";
  EXPECT_EQ(bench.wire.take_body(id), "abc");
  EXPECT_EQ(memory.held(), 3 + response.trailers.size()) << "not passed on";
  bench.wire.passed_on(id);
  EXPECT_EQ(memory.held(), response.trailers.size());
  bench.wire.release(id);
  EXPECT_EQ(memory.held(), 0U);
}

TEST(StreamWindows, M103_stream_fails_if_the_upstream_ignores_its_window) {
  StreamMemory memory(0);
  WireBench bench(memory);
  bench.flush();
  bench.wire.receive(settings());  // the upstream never acknowledges those of the proxy
  bench.flush();
  const StreamId id = bench.ask();
  const StreamId other = bench.ask();
  bench.wire.receive(headers(id, {{":status", "200"}}) + data(id, std::string(least, 'x')));
  EXPECT_FALSE(bench.wire.message(id).failure);
  bench.wire.receive(data(id, "x"));
  ASSERT_TRUE(bench.wire.message(id).failure);
  EXPECT_EQ(bench.wire.message(id).failure->kind, Http2Failure::Kind::malformed);
  EXPECT_EQ(bench.wire.message(id).body.size(), least);
  const std::vector<Frame> frames = bench.flush();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].payload, rst_stream(id, 3).substr(9)) << "FLOW_CONTROL_ERROR";
  bench.wire.receive(headers(other, {{":status", "204"}}, end_stream));
  EXPECT_TRUE(bench.wire.message(other).ended);
}

}  // namespace
}  // namespace reprise::http
