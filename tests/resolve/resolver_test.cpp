// Tests Resolver with an invented source of addresses: it sends one query per name at a time and caches
// results for a short time, and a slow name does not delay other names.
#include "proxy/net/resolve/resolver.hpp"

#include "tests/support/loopback.hpp"
#include "tests/support/metrics.hpp"
#include "tests/support/names.hpp"

namespace reprise::net::resolver_test {
namespace {

using play::Names;
using Found = Names::Found;  // addresses

Found one(const std::string& address) { return {asio::ip::make_address(address)}; }

Task<std::shared_ptr<const Addresses>> wait(std::shared_ptr<Lookup> lookup, Duration limit) {
  co_return co_await lookup->wait(limit);
}

class ResolverTest : public ::testing::Test {
 protected:
  std::unique_ptr<Resolver> make(const Resolver::Limits& limits = {}) {
    return std::make_unique<Resolver>(names.query(), limits, *metrics);
  }
  std::shared_ptr<const Addresses> look_up(Resolver& resolver, const std::string& name,
                                           Duration limit = long_enough) {
    return bench.run(wait(resolver.start(name, bench.io.get_executor()), limit));
  }
  double lookups(std::string_view outcome) {
    const std::string text = metrics->text();
    const std::string key = "reprise_dns_lookups_total{outcome=\"" + std::string(outcome) + "\"} ";
    const auto place = text.find(key);
    return place == std::string::npos ? 0 : std::stod(text.substr(place + key.size()));
  }

  Names names;
  Bench bench;
  std::unique_ptr<telemetry::Metrics> metrics = make_metrics();
};

TEST_F(ResolverTest, lookup_returns_the_addresses_found) {
  names.set("a.test", one("192.0.2.1"));
  const auto resolver = make();
  const auto response = look_up(*resolver, "a.test");
  ASSERT_NE(response, nullptr);
  EXPECT_EQ(response->list, one("192.0.2.1"));
  EXPECT_EQ(lookups("resolved"), 1);
}

TEST_F(ResolverTest, concurrent_lookups_of_a_name_share_one_query) {
  names.set("a.test", one("192.0.2.1"));
  names.hold_back("a.test");
  const auto resolver = make();
  int responded = 0;
  for (int i = 0; i < 20; ++i) {
    asio::co_spawn(bench.io, wait(resolver->start("a.test", bench.io.get_executor()), long_enough),
                   [&](const std::exception_ptr&, const std::shared_ptr<const Addresses>& response) {
                     ASSERT_NE(response, nullptr);
                     responded += response->list == one("192.0.2.1") ? 1 : 0;
                   });
  }
  ASSERT_TRUE(bench.run_until([&] { return names.asked("a.test") == 1; }));
  names.let_go("a.test");
  ASSERT_TRUE(bench.run_until([&] { return responded == 20; }));
  EXPECT_EQ(names.asked("a.test"), 1);
}

TEST_F(ResolverTest, cached_name_is_queried_again_only_after_it_expires) {
  names.set("a.test", one("192.0.2.1"));
  Resolver::Limits limits;
  limits.positive = milliseconds(1);
  const auto brief = make(limits);
  limits.positive = std::chrono::hours(1);
  const auto lasting = make(limits);
  look_up(*lasting, "a.test");
  look_up(*lasting, "a.test");
  EXPECT_EQ(names.asked("a.test"), 1);
  EXPECT_EQ(lookups("hit"), 1);
  const auto look_until_asked = [&](int times) {
    return play::eventually([&] {
      look_up(*brief, "a.test");
      return names.asked("a.test") >= times;
    });
  };
  EXPECT_TRUE(look_until_asked(3));
}

TEST_F(ResolverTest, L1_failed_lookup_is_reported_and_not_cached) {
  names.set("flaky.test", one("192.0.2.1"));
  names.fail("flaky.test", 1);
  const auto resolver = make();
  const auto failed = look_up(*resolver, "flaky.test");
  ASSERT_NE(failed, nullptr);
  EXPECT_TRUE(failed->list.empty());
  EXPECT_EQ(look_up(*resolver, "flaky.test")->list, one("192.0.2.1"));
  EXPECT_EQ(names.asked("flaky.test"), 2);
  EXPECT_EQ(lookups("failed"), 1);
  EXPECT_EQ(lookups("resolved"), 1);
}

TEST_F(ResolverTest, L1_concurrent_lookups_share_a_failed_query) {
  names.hold_back("flaky.test");
  const auto resolver = make();
  std::vector<std::shared_ptr<Lookup>> burst;
  for (int i = 0; i < 20; ++i) burst.push_back(resolver->start("flaky.test", bench.io.get_executor()));
  names.let_go("flaky.test");
  for (const auto& lookup : burst) {
    const auto response = bench.run(wait(lookup, long_enough));
    ASSERT_NE(response, nullptr);
    EXPECT_TRUE(response->list.empty());
  }
  EXPECT_EQ(names.asked("flaky.test"), 1);
  EXPECT_EQ(lookups("failed"), 1);
}

TEST_F(ResolverTest, L1_failed_lookup_does_not_return_an_expired_response) {
  names.set("a.test", one("192.0.2.1"), Duration::zero());
  const auto resolver = make();
  EXPECT_EQ(look_up(*resolver, "a.test")->list, one("192.0.2.1"));
  names.set("a.test", {});
  EXPECT_TRUE(look_up(*resolver, "a.test")->list.empty());
}

TEST_F(ResolverTest, L2_evicted_name_is_queried_again) {
  names.set("a.test", one("192.0.2.1"));
  const auto resolver = make();
  look_up(*resolver, "a.test");
  names.set("a.test", one("192.0.2.2"));
  EXPECT_EQ(look_up(*resolver, "a.test")->list, one("192.0.2.1"));
  resolver->evict("a.test");
  resolver->evict("b.test");
  EXPECT_EQ(look_up(*resolver, "a.test")->list, one("192.0.2.2"));
  EXPECT_EQ(names.asked("a.test"), 2);
}

TEST_F(ResolverTest, L2_evicting_a_name_does_not_affect_a_running_lookup) {
  names.set("a.test", one("192.0.2.1"));
  names.hold_back("a.test");
  const auto resolver = make();
  const auto lookup = resolver->start("a.test", bench.io.get_executor());
  resolver->evict("a.test");
  names.let_go("a.test");
  EXPECT_EQ(bench.run(wait(lookup, long_enough))->list, one("192.0.2.1"));
}

TEST_F(ResolverTest, response_is_cached_no_longer_than_its_source_allows) {
  names.set("a.test", one("192.0.2.1"), Duration::zero());
  names.set("b.test", one("192.0.2.2"), std::chrono::hours(1));
  Resolver::Limits limits;
  limits.positive = std::chrono::hours(1);
  const auto resolver = make(limits);
  for (int i = 0; i < 2; ++i) {
    look_up(*resolver, "a.test");
    look_up(*resolver, "b.test");
  }
  EXPECT_EQ(names.asked("a.test"), 2);
  EXPECT_EQ(names.asked("b.test"), 1);
}

TEST_F(ResolverTest, L3_many_hanging_lookups_do_not_displace_a_cached_name) {
  Resolver::Limits limits;
  limits.names = 2;
  const auto resolver = make(limits);
  names.set("a.test", one("192.0.2.1"));
  std::vector<std::shared_ptr<Lookup>> waiting;
  for (int i = 0; i < 100; ++i) {
    names.hold_back("dead" + std::to_string(i));
    waiting.push_back(resolver->start("dead" + std::to_string(i), bench.io.get_executor()));
  }
  EXPECT_EQ(look_up(*resolver, "a.test")->list, one("192.0.2.1"));
  look_up(*resolver, "a.test");
  EXPECT_EQ(names.asked("a.test"), 1) << "those under way take no room from what is remembered";
  for (int i = 0; i < 100; ++i) names.let_go("dead" + std::to_string(i));
  for (const auto& lookup : waiting) EXPECT_NE(bench.run(wait(lookup, long_enough)), nullptr);
}

TEST_F(ResolverTest, lookup_without_waiters_can_be_abandoned) {
  std::vector<Resolver::Question> asked;
  Resolver resolver([&](Resolver::Question question) { asked.push_back(std::move(question)); },
                    Resolver::Limits(), *metrics);
  auto lookup = resolver.start("a.test", bench.io.get_executor());
  EXPECT_FALSE(asked.front().is_given_up());
  lookup.reset();
  EXPECT_TRUE(asked.front().is_given_up());
  EXPECT_TRUE(asked.front().is_given_up());
  asked.front().complete({one("192.0.2.1")});  // no look-up waits for this result
  lookup = resolver.start("a.test", bench.io.get_executor());
  ASSERT_EQ(asked.size(), 2U);
  asked.back().complete({one("192.0.2.2")});
  EXPECT_EQ(bench.run(wait(lookup, long_enough))->list, one("192.0.2.2"));
}

TEST_F(ResolverTest, lookups_that_hang_do_not_delay_other_lookups) {
  names.set("a.test", one("192.0.2.1"));
  const auto resolver = make();
  std::vector<std::shared_ptr<Lookup>> stuck;
  for (const char* name : {"dead1.test", "dead2.test", "dead3.test"}) {
    names.hold_back(name);
    stuck.push_back(resolver->start(name, bench.io.get_executor()));
    ASSERT_TRUE(play::eventually([&] { return names.asked(name) == 1; }));
  }
  EXPECT_NE(look_up(*resolver, "a.test"), nullptr);
  for (const char* name : {"dead1.test", "dead2.test", "dead3.test"}) names.let_go(name);
}

TEST_F(ResolverTest, each_lookup_has_its_own_deadline) {
  names.hold_back("dead.test");
  const auto resolver = make();
  const Instant before = Tick::now();
  EXPECT_EQ(look_up(*resolver, "dead.test", milliseconds(50)), nullptr);
  EXPECT_GE(Tick::now() - before, milliseconds(50));
  names.set("dead.test", one("192.0.2.1"));
  names.let_go("dead.test");
  EXPECT_EQ(look_up(*resolver, "dead.test")->list, one("192.0.2.1"));
  EXPECT_EQ(names.asked("dead.test"), 1);
}

TEST_F(ResolverTest, cancelled_lookup_gets_nothing_and_others_get_their_response) {
  names.set("a.test", one("192.0.2.1"));
  names.hold_back("a.test");
  const auto resolver = make();
  const auto leaving = resolver->start("a.test", bench.io.get_executor());
  const auto staying = resolver->start("a.test", bench.io.get_executor());
  bool left = false;
  asio::co_spawn(bench.io, wait(leaving, long_enough),
                 [&](const std::exception_ptr&, const std::shared_ptr<const Addresses>& response) {
                   left = true;
                   EXPECT_EQ(response, nullptr);
                 });
  ASSERT_TRUE(bench.run_until([&] { return names.asked("a.test") == 1; }));
  leaving->cancel();
  ASSERT_TRUE(bench.run_until([&] { return left; }));
  names.let_go("a.test");
  EXPECT_NE(bench.run(wait(staying, long_enough)), nullptr);
}

TEST_F(ResolverTest, lookup_cancelled_before_the_wait_returns_at_once) {
  names.hold_back("a.test");
  const auto resolver = make();
  const auto lookup = resolver->start("a.test", bench.io.get_executor());
  lookup->cancel();
  EXPECT_EQ(bench.run(wait(lookup, std::chrono::hours(1))), nullptr);
  names.let_go("a.test");
}

TEST_F(ResolverTest, I13_sixteen_of_a_thousand_addresses_are_used) {
  Found many;
  for (unsigned i = 0; i < 1000; ++i) many.emplace_back(asio::ip::make_address_v4(0x0a000000U + i));
  names.set("many.test", many);
  const auto resolver = make();
  const auto response = look_up(*resolver, "many.test");
  ASSERT_NE(response, nullptr);
  EXPECT_EQ(response->list, Found(many.begin(), many.begin() + 16));
}

TEST_F(ResolverTest, abandoned_lookups_do_not_accumulate) {
  const auto resolver = make();
  names.hold_back("a.test");
  std::vector<std::weak_ptr<Lookup>> gone;
  for (int i = 0; i < 1000; ++i) gone.push_back(resolver->start("a.test", bench.io.get_executor()));
  const auto alive =
      std::count_if(gone.begin(), gone.end(), [](const auto& each) { return !each.expired(); });
  EXPECT_LE(alive, 65);
  names.let_go("a.test");
}

TEST_F(ResolverTest, full_cache_evicts_the_oldest_name) {
  Resolver::Limits limits;
  limits.names = 4;
  limits.positive = std::chrono::hours(1);
  const auto resolver = make(limits);
  for (int i = 0; i < 10; ++i) {
    const std::string name = "n" + std::to_string(i) + ".test";
    names.set(name, one("192.0.2.1"));
    look_up(*resolver, name);
  }
  look_up(*resolver, "n9.test");
  EXPECT_EQ(names.asked("n9.test"), 1);
  look_up(*resolver, "n0.test");
  EXPECT_EQ(names.asked("n0.test"), 2);
}

TEST_F(ResolverTest, name_that_resolved_before_does_not_count_as_nonexistent) {
  Resolver::Limits limits;
  limits.names = 2;
  limits.positive = std::chrono::hours(1);
  const auto resolver = make(limits);
  EXPECT_TRUE(look_up(*resolver, "a.test")->never_existed);
  names.set("a.test", one("192.0.2.1"));
  EXPECT_FALSE(look_up(*resolver, "a.test")->never_existed);
  resolver->evict("a.test");
  names.set("a.test", {});
  names.fail("a.test", 1);
  const auto gone = look_up(*resolver, "a.test");
  EXPECT_TRUE(gone->list.empty() && !gone->never_existed) << "a service that restarts";
  EXPECT_EQ(names.asked("a.test"), 3) << "nothing but that it resolved is remembered";
  names.fail("failing.test", 1);
  names.set("failing.test", {});
  EXPECT_FALSE(look_up(*resolver, "failing.test")->never_existed) << "a failure says nothing of the name";
}

TEST_F(ResolverTest, shutdown_does_not_wait_for_a_hanging_query) {
  names.hold_back("dead.test");
  auto resolver = make();
  const auto lookup = resolver->start("dead.test", bench.io.get_executor());
  ASSERT_TRUE(play::eventually([&] { return names.asked("dead.test") == 1; }));
  resolver.reset();  // the query has no response yet
  EXPECT_EQ(bench.run(wait(lookup, milliseconds(1))), nullptr);
  names.let_go("dead.test");
}

}  // namespace
}  // namespace reprise::net::resolver_test
