#include "proxy/tools/simulate/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/simulate/worlds.hpp"

namespace reprise::tools {
namespace {

using policy::Reason;

bool is_same(const Measures& a, const Measures& b) {
  const auto same = [](const Step& one, const Step& other) {
    return one.requests == other.requests && one.succeeded == other.succeeded &&
           one.attempts == other.attempts && one.budget == other.budget;
  };
  return a.events == b.events && a.ended == b.ended && a.latency.mean() == b.latency.mean() &&
         std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), same);
}

TEST(Run, same_seed_repeats_the_simulation_and_another_seed_differs) {
  Model model;
  const Measures once = simulated(model, policy::RoutePolicy{});
  const Measures again = simulated(model, policy::RoutePolicy{});
  EXPECT_TRUE(is_same(once, again));
  model.seed = 2;
  EXPECT_FALSE(is_same(once, simulated(model, policy::RoutePolicy{})));
}

TEST(Run, every_request_is_counted_once) {
  const Measures measures = simulated(Model{}, policy::RoutePolicy{});
  std::uint64_t sum = 0;
  for (const std::uint64_t count : measures.ended) sum += count;
  EXPECT_EQ(sum, measures.requests);
  EXPECT_EQ(measures.latency_of_all.count(), measures.requests);
  EXPECT_EQ(measures.latency.count(), measures.succeeded);
  std::uint64_t came = 0;
  for (const Step& step : measures.steps) came += step.requests;
  EXPECT_EQ(came, measures.requests);
  EXPECT_EQ(measures.unfinished + measures.turned_away, 0U);
}

TEST(Run, retry_after_field_of_a_response_delays_the_retry) {
  Model model = calm();
  model.rate = 100;
  model.limit = RateLimit{50, seconds(2)};
  policy::RoutePolicy policy = plain();
  policy.retry.deadline = seconds(30);
  const Measures measures = simulated(model, policy);
  EXPECT_GT(measures.limited, 1000U);
  EXPECT_GE(measures.latency.percentile(0.99), seconds(2));
  policy.retry.retry_after.maximum = seconds(1);
  EXPECT_GT(ended(simulated(model, policy), Reason::upstream_said_later), 1000U);
}

TEST(Run, paused_host_gets_no_requests) {
  Model model = calm();
  model.rate = 100;
  model.limit = RateLimit{50, seconds(2)};
  policy::RoutePolicy policy = plain(1);
  policy.while_paused = policy::WhilePaused::fail;
  const Measures measures = simulated(model, policy);
  EXPECT_GT(ended(measures, Reason::host_paused), 1000U);
  EXPECT_LT(measures.limited, 100U);
}

TEST(Run, open_circuit_reduces_upstream_load) {
  Model model = calm();
  model.outages = {{seconds(10), seconds(20), status(503)}};
  policy::RoutePolicy policy = plain(1);
  policy.circuit = policy::CircuitPolicy{0.5, seconds(10), 20, seconds(5)};
  const Measures measures = simulated(model, policy);
  EXPECT_GT(ended(measures, Reason::circuit_open), 5000U);
  EXPECT_LT(measures.attempts, measures.requests - 5000);
}

TEST(Run, hanging_attempts_end_at_their_timeout) {
  Model model = calm();
  model.rate = 100;
  model.errors = {{0.5, {policy::Responded{503, {}}, true, "hang"}}};
  policy::RoutePolicy policy = plain(10);
  policy.retry.attempt_timeout = seconds(1);
  const Measures measures = simulated(model, policy);
  EXPECT_EQ(ended(measures, Reason::success) + ended(measures, Reason::attempts_spent), measures.requests);
  EXPECT_GT(measures.success_share(), 0.995);
  EXPECT_GE(measures.latency.percentile(0.75), seconds(1));
  // The route's deadline also ends an attempt that is in progress.
  policy.retry.deadline = milliseconds(1500);
  EXPECT_GT(ended(simulated(model, policy), Reason::deadline_too_near), 1000U);
}

TEST(Run, hedging_shortens_the_latency_tail) {
  Model model = calm();
  model.rate = 200;
  model.latency = {Latency::Kind::lognormal, milliseconds(20), {}, 1.5};
  policy::RoutePolicy policy = plain();
  const Measures alone = simulated(model, policy);
  policy.hedge = policy::HedgePolicy{milliseconds(100)};
  const Measures hedged = simulated(model, policy);
  EXPECT_EQ(alone.hedges, 0U);
  EXPECT_GT(hedged.hedges, 500U);
  EXPECT_EQ(hedged.attempts, hedged.requests + hedged.hedges);
  EXPECT_LT(hedged.latency.percentile(0.99), alone.latency.percentile(0.99) / 2);
  policy.hedge->after.reset();
  EXPECT_GT(simulated(model, policy).hedges, 200U);
}

TEST(Run, request_ends_when_the_patience_of_the_simulated_client_ends) {
  Model model = calm();
  model.latency = {Latency::Kind::fixed, milliseconds(500), {}, 0};
  model.patience = milliseconds(200);
  const Measures measures = simulated(model, plain());
  EXPECT_EQ(ended(measures, Reason::client_gone), measures.requests);
  // All work is wasted, except the work that is still in progress when the last request ends.
  EXPECT_GE(measures.wasted, measures.requests - 300);
  EXPECT_EQ(measures.latency_of_all.mean(), milliseconds(200));
}

TEST(Run, non_idempotent_request_is_sent_once) {
  Model model = calm();
  model.mix = {{"POST", "a.example", 80, "/", "", {}, 1, false}};
  model.errors = {{0.5, status(503)}};
  EXPECT_EQ(simulated(model, plain()).retries, 0U);
  // A POST is retried if no byte of the request was sent, or if a rule of the route makes the request
  // idempotent.
  model.errors = {{0.5, {policy::Failed{policy::Stage::connect, policy::Cause::refused}, false, "refused"}}};
  EXPECT_GT(simulated(model, plain()).retries, 10'000U);
  policy::RoutePolicy policy = plain();
  policy.idempotent = {policy::IdempotencyRule::Kind::any,
                       {{policy::Condition::Kind::header, "idempotency-key", ""}}};
  model.errors = {{0.5, status(503)}};
  const Measures without = simulated(model, policy);
  EXPECT_EQ(without.retries, 0U);
  EXPECT_EQ(without.unknown_rule, without.requests);
  model.mix[0].fields = {{"Idempotency-Key", "1"}};
  EXPECT_GT(simulated(model, policy).retries, 10'000U);
  // For a tunnel, only the dial is retried.
  model.mix = {{"CONNECT", "a.example", 443, "/", "", {}, 1, true}};
  EXPECT_GT(simulated(model, plain()).retries, 10'000U);
}

TEST(Run, each_client_has_its_own_budget) {
  Model model = calm();
  model.errors = {{1, status(503)}};
  policy::RoutePolicy policy = plain();
  policy.budget = policy::BudgetPolicy{0, 1, seconds(10)};
  const std::uint64_t one = simulated(model, policy).retries;
  model.clients = 10;
  EXPECT_NEAR(static_cast<double>(simulated(model, policy).retries), 10.0 * static_cast<double>(one), 20);
  // Each host has its own budget. A route in mode observe has a separate budget.
  model.clients = 1;
  model.mix = {{"GET", "a.example", 80, "/", "", {}, 0.5, false},
               {"GET", "b.example", 80, "/", "", {}, 0.5, false}};
  EXPECT_NEAR(static_cast<double>(simulated(model, policy).retries), 2.0 * static_cast<double>(one), 4);
  policy.mode = policy::Mode::observe;
  const Measures observed = simulated(model, policy);
  EXPECT_EQ(observed.retries, 0U);
  EXPECT_GT(ended(observed, Reason::observe_only), 0U);
}

TEST(Run, requests_unfinished_at_the_end_are_reported) {
  Model model = calm();
  model.rate = 10;
  model.duration = seconds(2);
  model.errors = {{1, status(503)}};
  policy::RoutePolicy policy = plain();
  policy.retry.max_attempts.reset();
  policy.retry.deadline.reset();
  policy.retry.backoff.maximum = std::chrono::minutes(2);
  const Measures measures = simulated(model, policy);
  EXPECT_EQ(measures.unfinished, measures.requests);
  EXPECT_EQ(measures.succeeded, 0U);
}

TEST(Run, concurrent_requests_are_limited) {
  Model model = calm();
  model.rate = 0;
  model.bursts = {{Duration::zero(), most_under_way + 7}};
  const Measures measures = simulated(model, plain());
  EXPECT_EQ(measures.turned_away, 7U);
  EXPECT_EQ(measures.succeeded, most_under_way);
}

TEST(Run, progress_is_reported) {
  Model model = calm();
  RunOptions options = options_for(model);
  std::uint64_t told = 0;
  options.progress = [&](std::uint64_t requests) { told = requests; };
  ModelledWorld world(model);
  const Measures measures = run(subject(plain()), world, options);
  EXPECT_EQ(told, measures.requests / 4096 * 4096);
}

TEST(Policies, built_in_policies_are_the_configuration_or_simplified_variants_of_it) {
  const policy::RouteTable config = subject(policy::RoutePolicy{}).routes;
  EXPECT_FALSE(policy_of("others", config));
  EXPECT_EQ(policy_words().size(), 5U);
  const auto changed = [&](const char* word) { return policy_of(word, config)->routes[0].policy; };
  EXPECT_EQ(changed("none").mode, policy::Mode::off);
  EXPECT_EQ(changed("immediate").retry.backoff.initial, Duration::zero());
  EXPECT_FALSE(changed("immediate").budget);
  EXPECT_EQ(changed("no-jitter").retry.backoff.jitter, policy::Jitter::none);
  EXPECT_TRUE(changed("no-jitter").budget);
  EXPECT_FALSE(changed("no-budget").budget);
  EXPECT_EQ(changed("config").budget, policy::RoutePolicy{}.budget);
}

TEST(Policies, policies_are_listed_with_commas_or_repeated_options) {
  EXPECT_EQ(split_policies({"none,config", "a.yaml"}),
            (std::vector<std::string>{"none", "config", "a.yaml"}));
  EXPECT_EQ(split_policies({""}), std::vector<std::string>{""});
  EXPECT_EQ(unknown_policy("x"),
            "unknown policy \"x\": write none, immediate, no-jitter, no-budget, config, "
            "or a configuration file");
}

TEST(Measures, percentile_is_never_too_low_and_at_most_one_bucket_width_too_high) {
  Histogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), Duration::zero());
  for (int i = 1; i <= 100'000; ++i) histogram.add(std::chrono::microseconds(i * 37));
  for (const double share : {0.01, 0.5, 0.9, 0.99, 1.0}) {
    const double wanted = share * 100'000 * 37;
    const auto told = static_cast<double>(histogram.percentile(share).count()) / 1000;
    EXPECT_GE(told, wanted - 37);
    EXPECT_LE(told, wanted * 1.032 + 1);
  }
  histogram.add(Duration(-1));
  histogram.add(std::chrono::hours(24 * 365));
  EXPECT_GE(histogram.percentile(1), std::chrono::hours(24 * 365));
}

TEST(Measures, recovery_time_is_the_start_of_the_first_three_consecutive_good_seconds) {
  Measures measures;
  measures.step = milliseconds(500);
  measures.trouble_ended = seconds(4);
  for (int i = 0; i < 30; ++i) {
    const std::uint64_t good = i >= 6 && i < 12 ? 0 : i == 14 ? 80 : 99;
    measures.steps.push_back({100, good, 100, 1});
  }
  find_recovery(measures, seconds(3));
  EXPECT_EQ(measures.recovered, milliseconds(7500) - seconds(4));
  measures.recovered.reset();
  measures.steps.resize(19);
  find_recovery(measures, seconds(3));
  EXPECT_FALSE(measures.recovered);
  EXPECT_EQ(step_of(seconds(60)), milliseconds(500));
  EXPECT_EQ(step_of(std::chrono::hours(24)), std::chrono::hours(1));
  EXPECT_EQ(step_of(std::chrono::hours(24 * 30)), std::chrono::hours(7));
}

}  // namespace
}  // namespace reprise::tools
