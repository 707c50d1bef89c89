// Tests the choice of an HTTP/2 connection against upstreams that write single frames to sockets.
#include "proxy/net/upstream/http2_set.hpp"

#include "tests/support/http2_frames.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/metrics.hpp"

namespace reprise::net {
namespace {

using namespace play;

constexpr unsigned enhance_your_calm = 11;

/// The upstream's side of one connection.
struct Peer {
  std::shared_ptr<SharedConnection> shared;
  RawSocket socket;
};

class Http2SetTest : public ::testing::Test {
 protected:
  ~Http2SetTest() override {
    pool.close();
    drain();
  }
  void drain() {
    for (int i = 0; i < 20; ++i) {
      bench.io.restart();
      bench.io.poll();
    }
  }
  Http2Set& set() { return pool.http2(*upstream); }
  StreamRequest request(const std::shared_ptr<const void>& client) {
    return {.upstream = upstream,
            .client = client,
            .freshness = Freshness::any,
            .recent = recent,
            .not_to = {},
            .filter = filter};
  }
  /// Adds a connection of that client whose upstream allows that many streams.
  Peer add(const std::shared_ptr<const void>& client, std::uint32_t most = 100) {
    Pair pair = connect_pair(bench);
    auto connection = Http2UpstreamConnection::begin(std::move(pair.stream), {}, memory);
    EXPECT_TRUE(pair.raw.send(settings({{max_concurrent_streams, most}})));
    EXPECT_FALSE(bench.run(connection->ready(Tick::now() + long_enough, wait)));
    return {set().add(std::move(connection), request(client), address), std::move(pair.raw)};
  }
  static void open(StreamLease& stream) {
    EXPECT_FALSE(stream.stream().open({"GET / HTTP/1.1\r\nHost: a.test\r\n", "\r\n", {}, false, true, {}}));
  }
  /// Returns true once the upstream has seen the end of the connection.
  bool sees_the_end(RawSocket& socket) {
    return bench.run_until([&] {
      while (socket.read_more(milliseconds(0))) {
      }
      return socket.wire() != Wire::open;
    });
  }
  int gauge(std::string_view state) {
    const std::string text = metrics->text();
    const std::string key = "reprise_upstream_connections{state=\"" + std::string(state) + "\"} ";
    return std::stoi(text.substr(text.find(key) + key.size()));
  }

  Bench bench;
  http::StreamMemory memory{0};
  BudgetTable budgets{8};
  HostGuards host_guards{8};
  std::unique_ptr<telemetry::Metrics> metrics = make_metrics();
  config::Pool limits{.http2_connections = 2};
  Pool pool{bench.tick, limits, 8, budgets, host_guards, *metrics};
  std::shared_ptr<Upstream> upstream = pool.upstream("a.test", 80);
  std::shared_ptr<const AddressFilter> filter =
      std::make_shared<AddressFilter>(config::Deny{}, std::vector<tcp::endpoint>{});
  policy::UpstreamAddress address;
  RecentConnections recent{};
  std::shared_ptr<const void> anna = std::make_shared<const char>();
  std::shared_ptr<const void> ben = std::make_shared<const char>();
  Pause wait{bench.io.get_executor()};
};

TEST_F(Http2SetTest, M53_client_uses_its_own_connection_and_no_other_client_does) {
  const Peer peer = add(anna);
  const auto first = set().of_client(request(anna));
  ASSERT_NE(first, nullptr);
  EXPECT_FALSE(first->reused());
  const auto second = set().of_client(request(anna));
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(second->reused());
  EXPECT_EQ(first->number(), second->number());
  EXPECT_EQ(set().of_client(request(ben)), nullptr);
  EXPECT_EQ(set().of_idle(request(ben)), nullptr);
}

TEST_F(Http2SetTest, M53_idle_connection_of_a_client_that_has_left_is_taken_over) {
  const Peer peer = add(anna);
  set().of_client(request(anna)).reset();
  EXPECT_EQ(set().of_idle(request(ben)), nullptr);
  anna.reset();
  ASSERT_NE(set().of_idle(request(ben)), nullptr);
  EXPECT_NE(set().of_client(request(ben)), nullptr);
}

TEST_F(Http2SetTest, M53_F10_request_that_is_not_repeatable_uses_no_connection_that_was_idle_for_long) {
  const Peer peer = add(nullptr);
  set().of_idle(request(ben)).reset();
  ben = std::make_shared<const char>();
  StreamRequest careful = request(ben);
  careful.freshness = Freshness::unused;
  EXPECT_EQ(set().of_idle(careful), nullptr);
  careful.freshness = Freshness::recent;
  EXPECT_NE(set().of_idle(careful), nullptr);
}

TEST_F(Http2SetTest, M53_clients_share_the_least_loaded_connection_beyond_the_limit) {
  EXPECT_TRUE(set().may_dial(request(ben)));
  const Peer one = add(anna);
  EXPECT_TRUE(set().may_dial(request(ben)));
  const Peer other = add(anna);
  EXPECT_FALSE(set().may_dial(request(ben)));
  const auto first = set().of_least_loaded(request(ben));
  const auto second = set().of_least_loaded(request(ben));
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_NE(first->number(), second->number());
}

TEST_F(Http2SetTest,
       M53_resumed_download_that_keeps_a_stream_may_dial_beyond_the_limit_if_no_connection_has_room) {
  const Peer one = add(anna, 1);
  const Peer other = add(anna, 1);
  StreamRequest resumed = request(anna);
  resumed.may_hold_stream = true;
  const auto first = set().of_least_loaded(request(anna));
  EXPECT_FALSE(set().may_dial(resumed));
  const auto second = set().of_least_loaded(request(anna));
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_TRUE(set().may_dial(resumed));
  EXPECT_FALSE(set().may_dial(request(anna)));
}

TEST_F(Http2SetTest, M26_connection_without_room_is_idle_until_its_end_even_if_the_pool_keeps_no_connection) {
  limits.idle = 0;
  pool.limit(limits);
  Peer peer = add(anna, 0);
  EXPECT_EQ(set().of(*peer.shared, request(anna)), nullptr);
  EXPECT_EQ(gauge("idle"), 1);
  EXPECT_FALSE(set().may_dial(request(anna)));
  EXPECT_TRUE(set().make_room());
  EXPECT_TRUE(sees_the_end(peer.socket));
  EXPECT_TRUE(set().may_dial(request(anna)));
}

TEST_F(Http2SetTest, M53_F10_connection_that_was_idle_for_long_makes_room_for_a_fresh_one) {
  Peer peer = add(nullptr);
  const Peer owned = add(anna);
  set().of_idle(request(ben)).reset();
  EXPECT_FALSE(set().may_dial(request(ben)));
  ben = std::make_shared<const char>();
  EXPECT_FALSE(set().may_dial(request(ben))) << "a repeatable request uses the idle connection";
  StreamRequest careful = request(ben);
  careful.freshness = Freshness::unused;
  EXPECT_TRUE(set().may_dial(careful));
  EXPECT_TRUE(sees_the_end(peer.socket));
}

TEST_F(Http2SetTest, M53_dial_under_way_counts_as_a_connection) {
  const Peer peer = add(anna);
  {
    const Http2Set::Dialling dialling(set(), anna);
    EXPECT_FALSE(set().may_dial(request(ben)));
  }
  EXPECT_TRUE(set().may_dial(request(ben)));
}

TEST_F(Http2SetTest, M53_request_waits_for_the_dial_of_its_own_client_until_one_fails) {
  const Http2Set::Turn early(set(), bench.io.get_executor());
  EXPECT_FALSE(set().awaits_dial(request(anna), early));
  {
    Http2Set::Dialling dialling(set(), anna);
    EXPECT_TRUE(set().awaits_dial(request(anna), early));
    EXPECT_FALSE(set().awaits_dial(request(ben), early));
    dialling.succeed();
  }
  const Http2Set::Dialling next(set(), anna);
  EXPECT_TRUE(set().awaits_dial(request(anna), early));
  { const Http2Set::Dialling failing(set(), ben); }
  EXPECT_FALSE(set().awaits_dial(request(anna), early)) << "all that wait dial at once, and not one by one";
  const Http2Set::Turn late(set(), bench.io.get_executor());
  EXPECT_TRUE(set().awaits_dial(request(anna), late));
}

TEST_F(Http2SetTest, M53_end_of_a_dial_wakes_all_that_wait_for_it) {
  auto dialling = std::make_unique<Http2Set::Dialling>(set(), anna);
  unsigned awake = 0;
  const auto await = [&]() -> Task<void> {
    Http2Set::Turn turn(set(), bench.io.get_executor());
    if (co_await turn.wait_for_dial(Instant::max())) ++awake;
  };
  for (unsigned i = 0; i < 3; ++i) asio::co_spawn(bench.io, await(), asio::detached);
  drain();
  Http2Set::Turn other(set(), bench.io.get_executor());
  EXPECT_TRUE(other.is_first()) << "they are not in the queue";
  dialling.reset();
  EXPECT_TRUE(bench.run_until([&] { return awake == 3; }));
}

TEST_F(Http2SetTest, M53_requests_wait_in_order_of_arrival) {
  const Peer peer = add(anna, 1);
  auto stream = set().of_client(request(anna));
  ASSERT_NE(stream, nullptr);
  std::string order;
  const auto queue = [&](char name) -> Task<void> {
    Http2Set::Turn turn(set(), bench.io.get_executor());
    for (;;) {
      const auto mine = turn.is_first() ? set().of_least_loaded(request(ben)) : nullptr;
      if (mine != nullptr) break;
      co_await turn.wait(Instant::max());
    }
    order.push_back(name);
  };
  asio::co_spawn(bench.io, queue('a'), asio::detached);
  asio::co_spawn(bench.io, queue('b'), asio::detached);
  drain();
  EXPECT_EQ(order, "");
  Http2Set::Turn late(set(), bench.io.get_executor());
  EXPECT_FALSE(late.is_first());
  stream.reset();
  EXPECT_TRUE(bench.run_until([&] { return order.size() == 2; }));
  EXPECT_EQ(order, "ab");
  EXPECT_TRUE(late.is_first());
}

TEST_F(Http2SetTest, M53_cancelled_wait_lets_the_next_request_look) {
  const Peer peer = add(anna, 1);
  const auto stream = set().of_client(request(anna));
  Http2Set::Turn first(set(), bench.io.get_executor());
  Http2Set::Turn second(set(), bench.io.get_executor());
  bool goes_on = true;
  bool next_goes_on = false;
  asio::co_spawn(
      bench.io,
      [&]() -> Task<void> {
        goes_on = co_await first.wait(Instant::max());
        first.leave();
      },
      asio::detached);
  asio::co_spawn(
      bench.io, [&]() -> Task<void> { next_goes_on = co_await second.wait(Instant::max()); }, asio::detached);
  drain();
  first.cancel();
  EXPECT_TRUE(bench.run_until([&] { return next_goes_on; }));
  EXPECT_FALSE(goes_on);
}

TEST_F(Http2SetTest, M54_retry_never_uses_the_connection_of_the_attempt_before) {
  const Peer peer = add(anna);
  recent[0] = set().of_client(request(anna))->number();
  EXPECT_EQ(set().of_client(request(anna)), nullptr);
  EXPECT_EQ(set().of_least_loaded(request(anna)), nullptr);
  limits.http2_connections = 1;
  pool.limit(limits);
  EXPECT_TRUE(set().may_dial(request(ben))) << "or the retry would wait for ever";
}

TEST_F(Http2SetTest, M26_streams_that_are_lent_and_not_opened_count_for_the_limit) {
  const Peer peer = add(anna, 2);
  const auto first = set().of_client(request(anna));
  open(*first);
  const auto second = set().of_client(request(anna));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(set().of_client(request(anna)), nullptr);
  open(*second);
  EXPECT_EQ(set().of_client(request(anna)), nullptr);
}

TEST_F(Http2SetTest, M26_upstream_that_allows_no_stream_gets_no_further_connection) {
  const Peer peer = add(anna, 0);
  EXPECT_EQ(set().of(*peer.shared, request(anna)), nullptr);
  EXPECT_FALSE(set().may_dial(request(ben)));
}

TEST_F(Http2SetTest, M56_no_stream_begins_after_goaway_and_the_connection_closes_after_its_last_stream) {
  Peer peer = add(anna);
  auto stream = set().of_client(request(anna));
  open(*stream);
  EXPECT_TRUE(peer.socket.send(goaway(1, 0)));
  EXPECT_TRUE(bench.run_until([&] { return set().of_client(request(anna)) == nullptr; }));
  EXPECT_TRUE(set().may_dial(request(ben)));
  EXPECT_TRUE(peer.socket.send(headers(1, {{":status", "204"}}, end_stream)));
  EXPECT_TRUE(bench.run_until([&] { return stream->stream().unread() == Unread::bytes; }))
      << "a stream up to the last id finishes";
  stream.reset();
  EXPECT_TRUE(sees_the_end(peer.socket));
}

TEST_F(Http2SetTest, M55_end_of_an_idle_connection_is_known_at_once_and_teaches_the_idle_time) {
  Peer peer = add(anna);
  set().of_client(request(anna)).reset();
  EXPECT_EQ(gauge("idle"), 1);
  peer.socket.close();
  EXPECT_TRUE(bench.run_until([&] { return set().of_client(request(anna)) == nullptr; }));
  EXPECT_TRUE(upstream->idle_life.known());
  peer.shared.reset();
  EXPECT_EQ(gauge("idle"), 0);
}

TEST_F(Http2SetTest, M63_idle_connection_closes_after_the_idle_timeout) {
  limits.idle_timeout = milliseconds(60);
  pool.limit(limits);
  Peer peer = add(anna);
  set().of_client(request(anna)).reset();
  peer.shared.reset();
  EXPECT_EQ(gauge("idle"), 1);
  EXPECT_TRUE(sees_the_end(peer.socket));
  EXPECT_EQ(gauge("idle"), 0);
}

TEST_F(Http2SetTest, N2_connection_that_is_too_old_carries_no_further_stream) {
  Peer peer = add(anna);
  auto stream = set().of_client(request(anna));
  peer.shared->expire_at(Tick::now());
  EXPECT_EQ(set().of_client(request(anna)), nullptr);
  EXPECT_TRUE(stream->stream().unread() == Unread::nothing) << "the stream that runs goes on";
  stream.reset();
  EXPECT_TRUE(sees_the_end(peer.socket));
}

TEST_F(Http2SetTest, N3_connection_to_an_address_that_is_denied_now_carries_no_further_stream) {
  address = {{127, 0, 0, 1}, 80, policy::UpstreamAddress::Family::v4};
  const Peer peer = add(anna);
  config::Deny deny;
  deny.networks.push_back("127.0.0.0/8");
  filter = std::make_shared<AddressFilter>(deny, std::vector<tcp::endpoint>{});
  EXPECT_EQ(set().of_client(request(anna)), nullptr);
}

TEST_F(Http2SetTest, M70_no_stream_begins_on_a_connection_that_asked_for_calm) {
  Peer peer = add(anna);
  auto stream = set().of_client(request(anna));
  open(*stream);
  EXPECT_TRUE(peer.socket.send(rst_stream(1, enhance_your_calm)));
  EXPECT_TRUE(bench.run_until([&] { return stream->stream().failure().has_value(); }));
  stream.reset();
  EXPECT_EQ(set().of_client(request(anna)), nullptr);
  EXPECT_TRUE(sees_the_end(peer.socket));
}

TEST_F(Http2SetTest, idle_connection_is_closed_to_free_a_descriptor) {
  Peer peer = add(anna);
  auto stream = set().of_client(request(anna));
  EXPECT_FALSE(pool.make_room());
  stream.reset();
  EXPECT_TRUE(pool.make_room());
  EXPECT_TRUE(sees_the_end(peer.socket));
}

TEST_F(Http2SetTest, connection_closes_after_its_stream_once_the_pool_is_closed) {
  Peer peer = add(anna);
  auto stream = set().of_client(request(anna));
  pool.close();
  EXPECT_TRUE(stream->stream().unread() == Unread::nothing);
  stream.reset();
  EXPECT_TRUE(sees_the_end(peer.socket));
}

}  // namespace
}  // namespace reprise::net
