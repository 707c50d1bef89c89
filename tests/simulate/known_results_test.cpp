// Compares simulations with known results about retries and queues.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/simulate/worlds.hpp"

namespace reprise::tools {
namespace {

using policy::Jitter;
using policy::Reason;

double milliseconds_of(Duration span) { return std::chrono::duration<double, std::milli>(span).count(); }

// A request needs (1 - p^n) / (1 - p) attempts on average, and succeeds with probability 1 - p^n. The bounds
// are five standard deviations for 100,000 requests.
TEST(KnownResults, attempts_under_independent_failures_match_the_formula) {
  for (const auto& [p, n] :
       std::vector<std::pair<double, unsigned>>{{0.05, 6}, {0.3, 3}, {0.5, 6}, {0.9, 4}}) {
    Model model = calm();
    model.rate = 10'000;
    model.duration = seconds(10);
    model.arrivals = Arrivals::even;
    model.errors = {{p, status(503)}};
    const Measures measures = simulated(model, plain(n));
    ASSERT_EQ(measures.requests, 100'000U);
    const double all_fail = std::pow(p, n);
    const double attempts = (1 - all_fail) / (1 - p);
    EXPECT_NEAR(measures.amplification(), attempts, 5 * n / 2.0 / std::sqrt(100'000)) << p << ' ' << n;
    EXPECT_NEAR(measures.success_share(), 1 - all_fail, 5 * std::sqrt(all_fail * (1 - all_fail) / 100'000))
        << p;
    EXPECT_EQ(measures.retries + measures.requests, measures.attempts);
    EXPECT_EQ(ended(measures, Reason::success) + ended(measures, Reason::attempts_spent), 100'000U);
  }
}

// The latency of a request is one wait and two attempts of 1 us each.
TEST(KnownResults, mean_wait_of_each_jitter_matches_the_formula) {
  struct Row {
    Jitter jitter;
    double mean;
    double deviation;
  };
  // With d = 400 ms, `additive` adds 0 to 1000 ms to d, and `decorrelated` draws from d to 3 d.
  for (const Row& row :
       {Row{Jitter::none, 400, 0}, Row{Jitter::full, 200, 115.5}, Row{Jitter::equal, 300, 57.8},
        Row{Jitter::additive, 900, 289}, Row{Jitter::decorrelated, 800, 231}}) {
    Model model = calm();
    model.rate = 2000;
    model.duration = seconds(10);
    model.arrivals = Arrivals::even;
    model.errors = {{1, status(503)}};
    policy::RoutePolicy policy = plain(2);
    policy.retry.backoff = {milliseconds(400), 2, seconds(8), row.jitter};
    const Measures measures = simulated(model, policy);
    EXPECT_NEAR(milliseconds_of(measures.latency_of_all.mean()), row.mean + 0.002,
                5 * row.deviation / std::sqrt(20'000) + 0.002)
        << static_cast<int>(row.jitter);
  }
}

// Every attempt fails, so every request uses all retries that it may: retries = ratio * requests. The result
// is up to a tenth lower: in the oldest tenth of the window, first attempts no longer count but retries do.
TEST(KnownResults, retries_under_permanent_failure_match_the_budget_ratio) {
  for (const double ratio : {0.1, 0.2, 0.5}) {
    Model model = calm();
    model.rate = 1000;
    model.duration = seconds(100);
    model.errors = {{1, status(503)}};
    policy::RoutePolicy policy = plain();
    policy.budget = policy::BudgetPolicy{ratio, 0, seconds(10)};
    const Measures measures = simulated(model, policy);
    const double spent = static_cast<double>(measures.retries) / static_cast<double>(measures.requests);
    EXPECT_LE(spent, ratio);
    EXPECT_GE(spent, ratio * 0.9);
    EXPECT_LT(measures.lowest_budget(), 0.02);
  }
  // With a ratio of 0, the budget's floor allows 7 retries a second.
  Model model = calm();
  model.rate = 500;
  model.errors = {{1, status(503)}};
  policy::RoutePolicy policy = plain();
  policy.budget = policy::BudgetPolicy{0, 7, seconds(10)};
  const Measures measures = simulated(model, policy);
  EXPECT_LE(measures.retries, 7U * 60 + 70);
  EXPECT_GE(measures.retries, 7U * 60 * 9 / 10);
}

// 2000 requests arrive at once while the upstream is down for a second. Without jitter, each wave of retries
// falls into one step. With jitter, the retries are spread.
TEST(KnownResults, retries_without_jitter_come_in_synchronised_waves) {
  Model model = calm();
  model.rate = 0;
  model.duration = seconds(10);
  model.bursts = {{Duration::zero(), 2000}};
  model.outages = {{Duration::zero(), seconds(1), status(503)}};
  policy::RoutePolicy policy = plain();
  policy.retry.backoff = {milliseconds(250), 2, seconds(8), Jitter::none};
  const Measures waves = simulated(model, policy);
  EXPECT_EQ(waves.succeeded, 2000U);
  std::uint64_t crests = 0;
  for (const Step& step : waves.steps) {
    EXPECT_TRUE(step.attempts == 0 || step.attempts == 2000) << step.attempts;
    crests += step.attempts > 0 ? 1 : 0;
  }
  EXPECT_EQ(crests, 4U);  // one wave of attempts each at 0, 0.25, 0.75 and 1.75 s
  policy.retry.backoff.jitter = Jitter::equal;
  const Measures spread = simulated(model, policy);
  EXPECT_EQ(spread.steps[0].attempts, 2000U);
  // First retries are spread evenly over 126 to 251 ms. The second step (100 to 200 ms) gets 59 % of them,
  // the third 41 %.
  EXPECT_NEAR(static_cast<double>(spread.steps[1].attempts) / 2000, 74.0 / 125, 0.055);
  for (std::size_t i = 3; i < spread.steps.size(); ++i) EXPECT_LT(spread.steps[i].attempts, 1000U) << i;
  EXPECT_EQ(spread.succeeded, 2000U);
}

// In the default model, rejecting a request costs the upstream work. Each retry of the request costs it work
// again.
TEST(KnownResults, overload_persists_without_a_budget_and_ends_with_one) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
    Model model;
    model.seed = seed;
    policy::RoutePolicy policy;
    const Measures with = simulated(model, policy);
    ASSERT_TRUE(with.recovered) << seed;
    EXPECT_LE(*with.recovered, seconds(5)) << seed;
    policy.budget.reset();
    const Measures without = simulated(model, policy);
    EXPECT_FALSE(without.recovered) << seed;
    EXPECT_GT(without.amplification(), 3) << seed;
    EXPECT_LT(without.success_share(), 0.6) << seed;
    // The upstream itself is healthy: if no request is retried, the upstream recovers at once.
    policy.mode = policy::Mode::off;
    EXPECT_EQ(simulated(model, policy).recovered, Duration::zero()) << seed;
  }
}

// Another way into overload: a request times out in a long queue and is retried. The upstream's work on the
// first attempt is then wasted.
TEST(KnownResults, overload_by_timeouts_persists_without_a_budget) {
  Model model = calm();
  model.latency = {Latency::Kind::exponential, milliseconds(50), {}, 0};
  model.capacity = 20;  // 400/s
  model.rate = 280;
  model.queue = 2000;
  model.refusal = Duration::zero();
  model.duration = seconds(120);
  model.outages = {{seconds(20), seconds(4), {policy::Responded{503, {}}, true, "hang"}}};
  policy::RoutePolicy policy = plain(4);
  policy.retry.backoff = {milliseconds(100), 2, seconds(2), Jitter::equal};
  policy.retry.attempt_timeout = milliseconds(800);
  model.bursts = {{seconds(24), 800}};
  const Measures without = simulated(model, policy);
  EXPECT_FALSE(without.recovered);
  EXPECT_GT(without.wasted, 20'000U);
  policy.budget = policy::BudgetPolicy{0.1, 1, seconds(10)};
  const Measures with = simulated(model, policy);
  ASSERT_TRUE(with.recovered);
  EXPECT_LE(*with.recovered, seconds(30));
  EXPECT_LT(with.wasted, without.wasted / 4);
}

// M/M/1 queue: the time in the system is exponential with mean 1 / (mu - lambda), which is 20 ms here.
TEST(KnownResults, single_worker_with_a_queue_matches_queueing_theory) {
  Model model = calm();
  model.latency = {Latency::Kind::exponential, milliseconds(10), {}, 0};
  model.capacity = 1;
  model.queue = 100'000;
  model.rate = 50;
  model.duration = seconds(4000);
  const Measures measures = simulated(model, plain());
  EXPECT_EQ(measures.succeeded, measures.requests);
  EXPECT_NEAR(milliseconds_of(measures.latency.mean()), 20, 0.8);
  EXPECT_NEAR(milliseconds_of(measures.latency.percentile(0.5)), 13.86, 0.9);
  EXPECT_NEAR(milliseconds_of(measures.latency.percentile(0.99)), 92.1, 7);
}

// Erlang B: five workers without a queue reject 19.91 % of an offered load of four. This holds for any
// distribution of service times.
TEST(KnownResults, workers_without_a_queue_match_the_erlang_b_formula) {
  for (const Latency::Kind kind : {Latency::Kind::exponential, Latency::Kind::fixed}) {
    Model model = calm();
    model.latency = {kind, milliseconds(40), {}, 0};
    model.capacity = 5;
    model.queue = 0;
    model.refusal = Duration::zero();
    model.rate = 100;
    model.duration = seconds(2000);
    const Measures measures = simulated(model, plain(1));
    EXPECT_NEAR(static_cast<double>(measures.refused) / static_cast<double>(measures.requests), 0.1991,
                0.006);
  }
}

// The token bucket holds the tokens of one second: it admits 100 requests at once, then 100 a second.
TEST(KnownResults, simulated_rate_limit_admits_the_configured_rate) {
  Model model = calm();
  model.rate = 300;
  model.limit = RateLimit{100, std::nullopt};
  const Measures measures = simulated(model, plain(1));
  EXPECT_NEAR(static_cast<double>(measures.succeeded), 100 * 60 + 100, 2);
  EXPECT_EQ(measures.limited, measures.requests - measures.succeeded);
}

}  // namespace
}  // namespace reprise::tools
