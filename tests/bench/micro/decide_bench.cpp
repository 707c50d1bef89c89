// Measures decide() for a response that is delivered, and for a response that is retried after a random wait.
#include <benchmark/benchmark.h>

#include <limits>

#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {
namespace {

void decide_of(benchmark::State& state, const Outcome& outcome) {
  const Facts facts{Idempotency::yes, true, true};
  const RoutePolicy policy;
  Attempt attempt;
  attempt.sent = Sent::maybe;
  attempt.replayable = true;
  SeededDice dice(7);
  constexpr Instant now{std::chrono::hours(1)};
  constexpr double plenty = std::numeric_limits<double>::infinity();
  for (auto _ : state)
    benchmark::DoNotOptimize(
        decide(facts, attempt, outcome, policy, now, now + std::chrono::minutes(1), dice, plenty));
}

void decide_a_success(benchmark::State& state) { decide_of(state, Responded{200, {}}); }
BENCHMARK(decide_a_success);

void decide_a_retry(benchmark::State& state) { decide_of(state, Responded{503, {}}); }
BENCHMARK(decide_a_retry);

}  // namespace
}  // namespace reprise::policy
