// Tests the pool of idle connections: it leases only open connections without unread data, and bounds the
// idle time and the number of hosts.
#include "proxy/net/upstream/pool.hpp"

#include <algorithm>

#include "proxy/net/tls/tls_client.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/metrics.hpp"

namespace reprise::net {
namespace {

class PoolTest : public ::testing::Test {
 protected:
  std::unique_ptr<Pool> make(const config::Pool& settings = {}, std::size_t hosts = 8) {
    return std::make_unique<Pool>(bench.tick, settings, hosts, budgets, host_guards, *metrics);
  }
  /// Adds a used idle connection to the pool and returns its other end.
  RawSocket add(Pool& pool, const std::string& host = "a.test", Duration life = Duration::max()) {
    Pair pair = connect_pair(bench);
    auto connection =
        std::make_unique<UpstreamConnection>(pool, pool.upstream(host, 80), std::move(pair.stream));
    connection->set_idle_life(life);
    pool.give_back(std::move(connection));
    return std::move(pair.raw);
  }
  std::unique_ptr<UpstreamConnection> lease(Pool& pool, Freshness freshness = Freshness::any) {
    return pool.lease(*pool.upstream("a.test", 80), freshness);
  }
  std::size_t idle(Pool& pool, const std::string& host = "a.test") {
    return pool.upstream(host, 80)->idle.size();
  }
  int gauge(std::string_view state) {
    const std::string text = metrics->text();
    const std::string key = "reprise_upstream_connections{state=\"" + std::string(state) + "\"} ";
    return std::stoi(text.substr(text.find(key) + key.size()));
  }
  void let_pass(Duration time) {
    const Instant until = Tick::now() + time;
    ASSERT_TRUE(bench.run_until([&] { return Tick::now() >= until; }));
  }

  Bench bench;
  BudgetTable budgets{8};
  HostGuards host_guards{8};
  std::unique_ptr<telemetry::Metrics> metrics = make_metrics();
};

// Each io thread has its own pool, so two pools stand for two threads.
TEST_F(PoolTest, L21_threads_share_one_budget_and_circuit_per_host_in_use) {
  const auto one = make({}, 8);
  const auto other = make({}, 8);
  const policy::BudgetPolicy money;
  const policy::CircuitPolicy breaker;
  const auto busy = one->upstream("busy.test", 80);
  policy::Budget* const budget = one->budget(*busy, money, BudgetKind::real);
  policy::Circuit* const circuit = one->circuit(*busy, breaker);
  for (int i = 0; i < 40; ++i) {
    const auto passing = other->upstream("h" + std::to_string(i) + ".test", 80);
    other->budget(*passing, money, BudgetKind::real);
    other->circuit(*passing, breaker);
    const auto same = other->upstream("busy.test", 80);
    if (i % 20 != 19) continue;
    EXPECT_EQ(other->budget(*same, money, BudgetKind::real), budget);
    EXPECT_EQ(other->circuit(*same, breaker), circuit);
  }
  std::size_t hosts = 0;
  budgets.each(Tick::now(), [&](std::string_view, double) { ++hosts; });
  EXPECT_LE(hosts, 9U) << "bounded all the same";
}

TEST_F(PoolTest, most_recently_returned_connection_is_lent_first) {
  const auto pool = make();
  EXPECT_EQ(lease(*pool), nullptr);
  RawSocket old = add(*pool);
  RawSocket young = add(*pool);
  EXPECT_EQ(gauge("idle"), 2);
  const auto lent = lease(*pool);
  ASSERT_NE(lent, nullptr);
  EXPECT_TRUE(lent->reused());
  EXPECT_EQ(gauge("idle"), 1);
  EXPECT_EQ(gauge("active"), 1);
  Gather word;
  word.add("x");
  EXPECT_FALSE(lent->stream().write_now(word));
  EXPECT_TRUE(young.read_bytes(1));
  EXPECT_NE(lease(*pool), nullptr);
  EXPECT_EQ(lease(*pool), nullptr);
}

TEST_F(PoolTest, N2_reuse_of_an_ageing_connection_does_not_accumulate_timers) {
  const auto pool = make();
  const RawSocket other_end = add(*pool);
  auto connection = lease(*pool);
  connection->expire_at(Tick::now() + std::chrono::seconds(20));  // sooner than pool.idle_timeout
  for (int i = 0; i < 200; ++i) {
    pool->give_back(std::move(connection));
    connection = lease(*pool);
    ASSERT_NE(connection, nullptr);
  }
  EXPECT_LE(bench.tick.lists(), 2U);
}

TEST_F(PoolTest, N2_idle_connection_is_closed_at_its_maximum_age) {
  const auto pool = make();
  RawSocket other_end = add(*pool);
  auto connection = lease(*pool);
  connection->expire_at(Tick::now() + milliseconds(20));
  pool->give_back(std::move(connection));
  EXPECT_EQ(idle(*pool), 1U);
  EXPECT_TRUE(bench.run_until([&] { return idle(*pool) == 0; }));
}

TEST_F(PoolTest, connection_that_never_was_idle_does_not_count_as_reused) {
  const auto pool = make();
  Pair pair = connect_pair(bench);
  const UpstreamConnection connection(*pool, pool->upstream("a.test", 80), std::move(pair.stream));
  EXPECT_FALSE(connection.reused());
}

TEST_F(PoolTest, F1_connections_are_separated_by_host_and_port_ignoring_case) {
  const auto pool = make();
  EXPECT_EQ(pool->upstream("A.Test", 80), pool->upstream("a.test", 80));
  EXPECT_NE(pool->upstream("a.test", 81), pool->upstream("a.test", 80));
  EXPECT_EQ(pool->upstream("A.Test", 80)->key, "a.test:80");
  RawSocket other = add(*pool, "b.test");
  EXPECT_EQ(lease(*pool), nullptr);
}

TEST_F(PoolTest, upstream_in_the_list_of_parent_exceptions_does_not_use_the_parent) {
  const auto pool = make();
  pool->go_through("proxy.test", 3128, {}, {"*.internal"});
  const auto excepted = pool->upstream("a.internal", 80);
  EXPECT_EQ(excepted->parent, nullptr);
  ASSERT_NE(pool->upstream("a.test", 80)->parent, nullptr);
  EXPECT_EQ(pool->upstream("a.test", 80)->parent->host, "proxy.test");
  pool->go_through("proxy.test", 3128, {}, {"*.internal"});
  EXPECT_EQ(pool->upstream("a.internal", 80), excepted) << "nothing changed";
  pool->go_through("proxy.test", 3128);
  EXPECT_NE(pool->upstream("a.internal", 80)->parent, nullptr);
}

TEST_F(PoolTest, F1_connections_are_never_shared_across_scheme_name_or_tls_settings) {
  const TlsClient one({}, 0);
  const TlsClient other({}, 1);
  const auto pool = make({}, 32);
  std::vector<std::shared_ptr<Upstream>> all;
  std::vector<RawSocket> ends;
  for (const char* host : {"a.test", "b.test"}) {
    for (const std::uint16_t port : {std::uint16_t{80}, std::uint16_t{443}}) {
      all.push_back(pool->upstream(host, port));
      for (const TlsClient* client : {&one, &other}) {
        for (const char* name : {"a.test", "b.test"})
          all.push_back(pool->upstream(host, port, {client, name}));
      }
    }
  }
  // An idle connection may be leased only for the upstream to which it belongs.
  for (const auto& owner : all) {
    Pair pair = connect_pair(bench);
    pool->give_back(std::make_unique<UpstreamConnection>(*pool, owner, std::move(pair.stream)));
    for (const auto& asking : all) {
      if (asking == owner) continue;
      EXPECT_EQ(pool->lease(*asking, Freshness::any), nullptr) << asking->key;
    }
    EXPECT_NE(pool->lease(*owner, Freshness::any), nullptr) << owner->key;
  }
  std::vector<std::string> keys;
  for (const auto& upstream : all) keys.push_back(upstream->key);
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::unique(keys.begin(), keys.end()), keys.end());
  EXPECT_EQ(pool->upstream("A.Test", 443, {&one, "a.test"}), pool->upstream("a.test", 443, {&one, "a.test"}));
}

TEST_F(PoolTest, F1_host_has_one_budget_across_schemes_and_server_names) {
  const TlsClient client({}, 0);
  const auto pool = make();
  const auto secure = pool->upstream("A.test", 443, {&client, "other.test"});
  EXPECT_EQ(secure->account, "a.test:443");
  EXPECT_EQ(pool->budget(*secure, {}, BudgetKind::real),
            pool->budget(*pool->upstream("a.test", 443), {}, BudgetKind::real));
  EXPECT_EQ(pool->circuit(*secure, {}), pool->circuit(*pool->upstream("a.test", 443), {}));
  EXPECT_EQ(pool->pause(*secure), pool->pause(*pool->upstream("a.test", 443)));
}

TEST_F(PoolTest, host_with_a_trailing_dot_shares_budgets_but_not_connections) {
  const auto pool = make();
  const auto plain = pool->upstream("a.test", 80), absolute = pool->upstream("A.Test.", 80);
  EXPECT_EQ(absolute->account, "a.test:80");
  EXPECT_EQ(absolute->host, "a.test.") << "the resolver is asked for what the client named";
  EXPECT_NE(absolute, plain);
  EXPECT_EQ(pool->upstream("a.test.", 80), absolute);
  EXPECT_EQ(absolute->cells, plain->cells);
  EXPECT_EQ(pool->budget(*absolute, {}, BudgetKind::real), pool->budget(*plain, {}, BudgetKind::real));
  EXPECT_EQ(pool->circuit(*absolute, {}), pool->circuit(*plain, {}));
  EXPECT_EQ(pool->pause(*absolute), pool->pause(*plain));
}

TEST_F(PoolTest, I6_longest_idle_connection_of_the_least_recently_used_upstream_is_evicted) {
  const auto pool = make();
  RawSocket old = add(*pool, "b.test");
  RawSocket young = add(*pool, "b.test");
  RawSocket other = add(*pool, "a.test");
  EXPECT_TRUE(pool->make_room());
  EXPECT_EQ(old.read_to_end(), Wire::fin);
  EXPECT_TRUE(pool->make_room());
  EXPECT_EQ(young.read_to_end(), Wire::fin);
  EXPECT_EQ(gauge("idle"), 1);
  EXPECT_TRUE(pool->make_room());
  EXPECT_FALSE(pool->make_room());
}

TEST_F(PoolTest, F6_idle_connection_that_received_a_fin_is_not_lent) {
  const auto pool = make();
  RawSocket closed = add(*pool);
  closed.finish_sending();
  ASSERT_TRUE(has_arrived(pool->upstream("a.test", 80)->idle.back()->stream(), 1));
  EXPECT_EQ(lease(*pool), nullptr);
  EXPECT_EQ(idle(*pool), 0U);
  EXPECT_EQ(closed.read_to_end(), Wire::fin);
}

TEST_F(PoolTest, L5_connections_idle_for_half_the_learned_limit_are_not_lent) {
  const auto pool = make();
  RawSocket older = add(*pool);
  RawSocket closed = add(*pool);
  const auto upstream = pool->upstream("a.test", 80);
  closed.finish_sending();
  ASSERT_TRUE(has_arrived(upstream->idle.back()->stream(), 1));
  let_pass(milliseconds(400));
  EXPECT_EQ(lease(*pool), nullptr);
  EXPECT_EQ(older.read_to_end(), Wire::fin) << "it had rested even longer";
  const Duration limit = upstream->idle_life.limit(Tick::now()).value_or(Duration::zero());
  EXPECT_GE(limit, milliseconds(200));
  // A connection that was idle for less than the learned idle limit is leased. A connection that was idle for
  // longer is closed, even if the upstream has not closed it.
  RawSocket next = add(*pool);
  auto lent = lease(*pool);
  EXPECT_TRUE(lent != nullptr || upstream->idle_life.limit(Tick::now()) != limit);
  pool->give_back(std::move(lent));
  let_pass(limit + milliseconds(1));
  EXPECT_EQ(lease(*pool), nullptr);
  EXPECT_EQ(next.read_to_end(), Wire::fin);
}

TEST_F(PoolTest, L5_connection_closed_while_in_use_lowers_the_learned_idle_limit) {
  const auto pool = make();
  RawSocket older = add(*pool);
  RawSocket young = add(*pool);
  const Instant given = Tick::now();
  auto lent = lease(*pool);
  let_pass(milliseconds(50));
  pool->ended_after_idle(*lent, given + milliseconds(20));
  EXPECT_EQ(idle(*pool), 0U);
  EXPECT_EQ(older.read_to_end(), Wire::fin);
  const auto limit = pool->upstream("a.test", 80)->idle_life.limit(Tick::now());
  ASSERT_TRUE(limit);
  EXPECT_GE(*limit, milliseconds(10));
}

TEST_F(PoolTest, L5_connections_past_the_learned_idle_limit_close_when_another_connection_becomes_idle) {
  const auto pool = make();
  RawSocket resting = add(*pool);
  pool->upstream("a.test", 80)->idle_life.ended_after(milliseconds(1), Tick::now());
  let_pass(milliseconds(2));
  RawSocket next = add(*pool);
  EXPECT_EQ(idle(*pool), 1U);
  EXPECT_EQ(resting.read_to_end(), Wire::fin);
}

TEST_F(PoolTest, D10_idle_connections_used_by_the_last_attempts_of_a_request_are_skipped) {
  const auto pool = make();
  RawSocket first = add(*pool);
  RawSocket second = add(*pool);
  RawSocket third = add(*pool);
  const auto& resting = pool->upstream("a.test", 80)->idle;
  const RecentConnections recent{resting[1]->number(), resting[2]->number()};
  const std::uint64_t free = resting[0]->number();
  const auto lent = pool->lease(*pool->upstream("a.test", 80), Freshness::any, recent);
  ASSERT_NE(lent, nullptr);
  EXPECT_EQ(lent->number(), free);
  EXPECT_EQ(pool->lease(*pool->upstream("a.test", 80), Freshness::any, recent), nullptr);
  EXPECT_EQ(idle(*pool), 2U) << "they stay for others";
}

TEST_F(PoolTest, F10_first_non_idempotent_request_gets_only_an_unused_connection) {
  const auto pool = make();
  // A slow machine may need more than a second between two lines of this test. The test then tries again.
  ASSERT_TRUE(play::eventually([&] {
    Pair pair = connect_pair(bench);
    pool->give_unused(
        std::make_unique<UpstreamConnection>(*pool, pool->upstream("a.test", 80), std::move(pair.stream)));
    RawSocket used = add(*pool);
    const auto lent = lease(*pool, Freshness::unused);
    return lent != nullptr && !lent->reused();
  }));
  EXPECT_EQ(lease(*pool, Freshness::unused), nullptr);
  EXPECT_GE(idle(*pool), 1U);
}

TEST_F(PoolTest, F10_skipped_connection_is_evicted_to_make_room_for_a_dial) {
  config::Pool settings;
  settings.idle = 2;
  const auto pool = make(settings);
  RawSocket oldest = add(*pool);
  RawSocket young = add(*pool);
  EXPECT_EQ(lease(*pool, Freshness::unused), nullptr);
  EXPECT_EQ(idle(*pool), 1U);
  EXPECT_EQ(oldest.read_to_end(), Wire::fin);
  EXPECT_EQ(lease(*pool, Freshness::unused), nullptr);
  EXPECT_EQ(idle(*pool), 1U) << "there is room now";
}

TEST_F(PoolTest, F6_B11_connection_with_unsolicited_bytes_is_not_lent) {
  const auto pool = make();
  RawSocket raw = add(*pool);
  raw.send("HTTP/1.1 408 Request Timeout\r\n\r\n");
  ASSERT_TRUE(has_arrived(pool->upstream("a.test", 80)->idle.back()->stream(), 1));
  EXPECT_EQ(lease(*pool), nullptr);
  EXPECT_EQ(raw.read_to_end(), Wire::reset);  // the kernel sends a reset if bytes are unread
}

TEST_F(PoolTest, F6_connection_that_was_reset_is_not_lent) {
  const auto pool = make();
  RawSocket raw = add(*pool);
  UpstreamConnection& resting = *pool->upstream("a.test", 80)->idle.back();
  raw.reset();
  ASSERT_TRUE(has_arrived(resting.stream(), 1));
  EXPECT_EQ(lease(*pool), nullptr);
  EXPECT_EQ(gauge("idle"), 0);
}

TEST_F(PoolTest, F10_non_idempotent_request_gets_only_a_recently_used_connection) {
  const auto pool = make();
  RawSocket raw = add(*pool);
  // A slow machine may need more than a second between two lines of this test. The test then tries again.
  std::unique_ptr<UpstreamConnection> recent;
  ASSERT_TRUE(play::eventually([&] {
    pool->give_back(lease(*pool, Freshness::any));
    recent = lease(*pool, Freshness::recent);
    return recent != nullptr;
  }));
  pool->give_back(std::move(recent));
  let_pass(milliseconds(1100));
  EXPECT_EQ(lease(*pool, Freshness::recent), nullptr);
  EXPECT_NE(lease(*pool, Freshness::any), nullptr);
}

TEST_F(PoolTest, idle_connection_is_closed_after_idle_timeout) {
  config::Pool settings;
  settings.idle_timeout = milliseconds(100);
  const auto pool = make(settings);
  const Instant before = Tick::now();
  RawSocket raw = add(*pool);
  ASSERT_TRUE(bench.run_until([&] { return idle(*pool) == 0; }));
  EXPECT_GE(Tick::now() - before, milliseconds(100));
  EXPECT_EQ(raw.read_to_end(), Wire::fin);
  EXPECT_EQ(gauge("idle"), 0);
}

TEST_F(PoolTest, F9_keep_alive_timeout_of_the_upstream_shortens_the_idle_time) {
  const auto pool = make();
  RawSocket raw = add(*pool, "a.test", milliseconds(100));
  RawSocket lasting = add(*pool, "a.test");
  ASSERT_TRUE(bench.run_until([&] { return idle(*pool) == 1; }));
  EXPECT_EQ(raw.read_to_end(), Wire::fin);
  RawSocket never = add(*pool, "a.test", Duration::zero());
  EXPECT_EQ(idle(*pool), 1U);
  EXPECT_EQ(never.read_to_end(), Wire::fin);
}

TEST_F(PoolTest, connections_above_the_idle_limit_close_within_a_second) {
  config::Pool settings;
  settings.idle = 2;
  const auto pool = make(settings);
  std::vector<RawSocket> ends;
  for (int i = 0; i < 5; ++i) ends.push_back(add(*pool));
  ASSERT_TRUE(bench.run_until([&] { return idle(*pool) <= 2; }));
  EXPECT_EQ(idle(*pool), 2U);
}

TEST_F(PoolTest, zero_idle_limit_keeps_no_connection) {
  config::Pool settings;
  settings.idle = 0;
  const auto pool = make(settings);
  RawSocket raw = add(*pool);
  EXPECT_EQ(idle(*pool), 0U);
  EXPECT_EQ(raw.read_to_end(), Wire::fin);
}

TEST_F(PoolTest, full_host_table_evicts_the_oldest_host_and_closes_its_idle_connections) {
  const auto pool = make({}, 3);
  RawSocket first = add(*pool, "h0.test");
  for (int i = 1; i < 50; ++i) pool->upstream("h" + std::to_string(i) + ".test", 80);
  EXPECT_EQ(first.read_to_end(), Wire::fin);
  EXPECT_EQ(gauge("idle"), 0);
}

TEST_F(PoolTest, host_in_use_is_never_evicted) {
  const auto pool = make({}, 2);
  const auto in_use = pool->upstream("used.test", 80);
  for (int i = 0; i < 10; ++i) pool->upstream("h" + std::to_string(i) + ".test", 80);
  EXPECT_EQ(pool->upstream("used.test", 80), in_use);
  RawSocket raw = add(*pool, "used.test");
  EXPECT_EQ(in_use->idle.size(), 1U);
}

TEST_F(PoolTest, closing_the_pool_closes_idle_and_returned_connections) {
  const auto pool = make();
  RawSocket resting = add(*pool);
  RawSocket lent_end = add(*pool);
  auto lent = lease(*pool);
  pool->close();
  EXPECT_EQ(resting.read_to_end(), Wire::fin);
  pool->give_back(std::move(lent));
  EXPECT_EQ(lent_end.read_to_end(), Wire::fin);
  EXPECT_EQ(gauge("idle"), 0);
  EXPECT_EQ(gauge("active"), 0);
}

TEST_F(PoolTest, budget_is_looked_up_once_and_shared_between_pools) {
  const auto pool = make();
  const auto other = make();
  policy::Budget* const budget = pool->budget(*pool->upstream("a.test", 80), {}, BudgetKind::real);
  ASSERT_NE(budget, nullptr);
  EXPECT_EQ(pool->budget(*pool->upstream("A.test", 80), {}, BudgetKind::real), budget);
  EXPECT_EQ(other->budget(*other->upstream("a.test", 80), {}, BudgetKind::real), budget);
  EXPECT_NE(pool->budget(*pool->upstream("a.test", 80), {}, BudgetKind::shadow), budget);
}

TEST(Pool, A10_upstream_counts_as_http_1_0_for_a_minute_after_an_http_1_0_response) {
  Upstream upstream;
  EXPECT_FALSE(upstream.speaks_1_0());
  upstream.spoke_1_0 = Tick::now() - std::chrono::seconds(50);
  EXPECT_TRUE(upstream.speaks_1_0());
  upstream.spoke_1_0 = Tick::now() - std::chrono::seconds(60);
  EXPECT_FALSE(upstream.speaks_1_0());
}

}  // namespace
}  // namespace reprise::net
