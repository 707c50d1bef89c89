// Tests limits through the whole proxy: descriptors, memory, budget, deadline, and routes without retries.
#include "tests/support/descriptors.hpp"
#include "tests/support/scarce_descriptors.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using play::sanitizer_needs_descriptors;
using play::ScarceDescriptors;

TEST(ProxyLimits, I6_request_gets_503_if_no_descriptor_is_free_for_the_upstream_connection) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    peer.send(response(200, "x", "Connection: close\r\n"));
  });
  Wishes wishes;
  wishes.route.retry.max_attempts = 2;
  RunningProxy proxy(std::move(wishes));
  const std::size_t before = play::open_descriptors();
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
  // Both ends of the upstream connection are closed. Only the two ends of the client connection remain.
  ASSERT_TRUE(play::eventually([&] { return play::open_descriptors() == before + 2; }));
  WireResponse got;
  {
    const ScarceDescriptors scarce(0);
    got = client.ask(play::get(upstream.authority()));
  }
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
}

TEST(ProxyLimits, D6_earlier_503_is_delivered_if_the_upstream_refuses_the_connection_of_the_retry) {
  ScriptedUpstream upstream([&upstream](Peer& peer) {
    peer.read_request();
    upstream.stop_listening();
    peer.send(response(503, "kept", "Connection: close\r\n"));
  });
  Wishes wishes;
  wishes.route.retry.max_attempts = 2;
  RunningProxy proxy(std::move(wishes));
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "kept");
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  EXPECT_TRUE(play::eventually(
      [&] { return proxy.metric("reprise_attempts_total{route=\"default\",outcome=\"connect\"}") == 1; }));
}

TEST(ProxyLimits, exhausted_replay_memory_makes_a_request_not_replayable) {
  ScriptedUpstream upstream(play::responses({response(503, "busy")}));
  Wishes wishes;
  wishes.settings.limits.replay_memory_bytes = 10'000;
  RunningProxy proxy(std::move(wishes));
  // The body does not fit into the read buffer after the head, so replay memory has to hold it.
  const WireResponse got =
      proxy.client().ask(play::with_body("PUT", upstream.authority(), std::string(30'000, 'x')));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.field("Reprise-Reason"), "not_replayable");
  EXPECT_EQ(proxy.metric("reprise_replay_bytes{store=\"memory\"}"), 0);
}

TEST(ProxyLimits, D18_spent_budget_stops_retries_of_all_requests_to_the_host) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(503, "busy"));
    }
  });
  Wishes wishes;
  policy::BudgetPolicy budget;
  budget.ratio = 0;
  budget.floor_per_second = 0.01;
  budget.window = seconds(500);  // allows five retries
  wishes.route.budget = budget;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  WireResponse got;
  for (int i = 0; i < 20; ++i) got = client.ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.field("Reprise-Reason"), "budget_spent");
  EXPECT_EQ(heard.size(), 25U);
}

TEST(ProxyLimits, wait_that_would_cross_the_deadline_is_never_started) {
  ScriptedUpstream upstream(play::responses({response(503, "busy")}));
  Wishes wishes;
  wishes.route.retry.deadline = seconds(20);
  wishes.route.retry.backoff.initial = wishes.route.retry.backoff.maximum = seconds(60);
  RunningProxy proxy(std::move(wishes));
  const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(got.field("Reprise-Reason"), "deadline_too_near");
}

TEST(ProxyLimits, exceeded_deadline_gives_504_instead_of_the_last_response_if_configured) {
  ScriptedUpstream upstream(play::responses({response(503, "busy")}));
  Wishes wishes;
  wishes.route.retry.deadline = seconds(20);
  wishes.route.retry.backoff.initial = wishes.route.retry.backoff.maximum = seconds(60);
  wishes.route.retry.out_of_time = policy::OutOfTime::gateway_timeout;
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 504);
  EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 504);  // the client's connection stays open
}

TEST(ProxyLimits, retry_after_is_respected_unless_it_exceeds_the_deadline) {
  ScriptedUpstream soon(
      play::responses({response(503, "busy", "Retry-After: 1\r\n"), response(200, "good")}));
  ScriptedUpstream later(
      play::responses({response(503, "busy", "Retry-After: 100\r\n"), response(200, "good")}));
  RunningProxy proxy;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(proxy.client().ask(play::get(soon.authority())).status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - before, seconds(1));
  const WireResponse got = proxy.client().ask(play::get(later.authority()));
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.field("Reprise-Reason"), "upstream_said_later");
}

TEST(ProxyLimits, request_in_observe_or_off_mode_is_sent_once_and_the_reason_is_reported) {
  for (const auto& [mode, reason] :
       {std::pair{policy::Mode::observe, "observe_only"}, std::pair{policy::Mode::off, "retries_off"}}) {
    ScriptedUpstream upstream(play::responses({response(503, "busy"), response(200, "never asked for")}));
    Wishes wishes;
    wishes.route.mode = mode;
    RunningProxy proxy(std::move(wishes));
    const WireResponse got = proxy.client().ask(play::get(upstream.authority()));
    EXPECT_EQ(got.status, 503);
    EXPECT_EQ(got.field("Reprise-Reason"), reason);
  }
}

TEST(ProxyLimits, reprise_response_headers_can_be_switched_off) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  Wishes wishes;
  wishes.route.response_headers = policy::ResponseHeaders::none;
  RunningProxy proxy(std::move(wishes));
  EXPECT_FALSE(proxy.client().ask(play::get(upstream.authority())).has("Reprise-"));
}

}  // namespace
}  // namespace reprise::server
