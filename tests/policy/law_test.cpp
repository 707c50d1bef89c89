// Checks the laws (invariants) of policy::Exchange on all short stories and on very many random ones.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "tests/policy/stories.hpp"
#include "tests/support/chance.hpp"
#include "tests/support/sanitized.hpp"

namespace reprise::play {
namespace {

#ifdef __OPTIMIZE__
constexpr bool optimized = true;
#else
constexpr bool optimized = false;
#endif

constexpr std::uint64_t random_stories = optimized && !sanitized ? 1'000'000 : 100'000;
constexpr std::size_t enumerated_attempts = optimized && !sanitized ? 4 : 3;

testing::AssertionResult obeys(const Scene& scene, const Script& script, const Played& played,
                               std::uint64_t story) {
  const std::string_view broken = first_broken_law(scene, script, played);
  if (broken.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "story " << story << ": not so: " << broken << "\n"
                                     << transcript(played, script);
}

/// Returns the kinds of outcome that the policy distinguishes.
std::vector<Step> outcomes() {
  return {status(200),
          status(409),
          status(421),
          status(503),
          status(503).retry_after(2s),
          status(503).retry_after(2h),
          status(206),
          fails(Stage::resolve, Cause::dns_error),
          refused,
          fails(Stage::tls, Cause::closed),
          reset,
          timed_out,
          fails(Stage::await_head, Cause::stream_refused).unprocessed(),
          fails(Stage::head, Cause::malformed_response)};
}

/// Returns each step in every state of the request's body and connection that affects a replay.
std::vector<Step> in_every_body_state(const std::vector<Step>& steps) {
  std::vector<Step> all;
  for (const Step& step : steps) {
    all.push_back(step);
    all.push_back(step.not_held());
    all.push_back(step.reused());
    all.push_back(step.reused().nothing_sent());
  }
  return all;
}

// Makes a script longer only if its story used every step. Otherwise the longer script would play the same
// story.
void enumerate(const Scene& scene, const std::vector<Step>& steps, Script& script, std::size_t most,
               std::uint64_t& stories) {
  for (const Step& step : steps) {
    script.push_back(step);
    LoadedDice dice = scene.dice;
    const Played played = run(scene, script, dice);
    ASSERT_TRUE(obeys(scene, script, played, stories++));
    const bool went_on = played.ledger.size() > script.size();
    if (went_on && script.size() < most) enumerate(scene, steps, script, most, stories);
    script.pop_back();
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(Law, invariants_hold_for_every_short_scenario) {
  const std::vector<Step> steps = in_every_body_state(outcomes());
  std::uint64_t stories = 0;
  for (const Scene& scene : {post(), put()}) {
    Script script;
    enumerate(scene.attempts(static_cast<unsigned>(enumerated_attempts)).budget(9), steps, script,
              enumerated_attempts, stories);
  }
  EXPECT_GT(stories, optimized && !sanitized ? 100'000U : 10'000U);
}

/// Draws scenes and steps. Stories and waits have separate generators, so that an extra draw for one does not
/// change the numbers of the other.
class Draw : public play::Chance {
 public:
  using Chance::Chance;

  Scene scene() {
    static constexpr std::array judgements{Idempotency::no, Idempotency::yes, Idempotency::undecided};
    static constexpr std::array deadlines{0s, 1s, 10s, 60s, 600s};
    static constexpr std::array modes{policy::Mode::active, policy::Mode::active,  policy::Mode::active,
                                      policy::Mode::active, policy::Mode::observe, policy::Mode::off};
    Scene scene;
    scene.facts = {pick(judgements), one_in(2), one_in(4)};
    policy::RoutePolicy& route = scene.policy;
    route.mode = pick(modes);
    route.retry.max_attempts = static_cast<unsigned>(below(7) + 1);
    if (one_in(4)) route.retry.max_attempts.reset();
    route.retry.deadline = pick(deadlines);
    if (route.retry.max_attempts && one_in(4)) route.retry.deadline.reset();
    if (one_in(3)) route.retry.out_of_time = policy::OutOfTime::gateway_timeout;
    if (one_in(3)) route.retry.nested = policy::Nested::refuse;
    if (one_in(3)) route.retry.inner = policy::Nested::allow;
    if (one_in(4)) route.retry.refused.statuses.set(429).set(409);
    route.ambiguous = any<policy::Ambiguous>();
    if (one_in(2)) route.idempotent.kind = policy::IdempotencyRule::Kind::any;
    scene.facts.create_only = one_in(6);
    scene.facts.one_time = one_in(12);
    scene.facts.changes_protocol = one_in(12);
    route.resume.enabled = !one_in(8);
    route.resume.max_attempts = static_cast<unsigned>(1 + below(4));
    route.retry.on.truncated = one_in(2);
    route.retry.backoff = backoff();
    route.retry.retry_after = {!one_in(4), std::chrono::seconds(below(100))};
    if (one_in(8)) route.retry.on.calls.set(below(policy::grpc_status_count));
    if (one_in(6)) scene = scene.call_deadline(epoch + std::chrono::milliseconds(below(20'000)));
    if (one_in(6)) scene = scene.signed_until(epoch + std::chrono::milliseconds(below(20'000)));
    if (one_in(4)) return scene.no_budget();
    return one_in(2) ? scene.budget(static_cast<unsigned>(below(4))) : scene;
  }

  Step step() {
    static const std::vector<Step> all = in_every_body_state(outcomes());
    Step step = pick(all);
    if (one_in(2)) any_outcome(step);
    step.lasting = std::chrono::milliseconds(one_in(8) ? below(90'000) : below(300));
    step.keeping = any<Keeping>();
    if (one_in(4)) step.late = std::chrono::milliseconds(below(20'000));
    if (one_in(8)) step.judged = one_in(2) ? Idempotency::yes : Idempotency::no;
    if (one_in(3)) step.breaks = any_but_first<Breaking>();
    step.differs = one_in(12);
    if (one_in(8)) step.in_attempt = any_but_first<Interruption>();
    if (one_in(8)) step.in_wait = any_but_first<Interruption>();
    if (one_in(8)) step.in_body = any_but_first<Interruption>();
    return step;
  }

  void script(Script& steps) {
    steps.resize(1 + below(8));
    for (Step& one : steps) one = step();
    if (one_in(16)) {
      // Adds a lost attempt and then a 409, which may be caused by the repeat of the lost attempt. Random
      // draws alone rarely produce both.
      steps.insert(steps.begin(), fails(Stage::await_head, Cause::reset));
      steps[1].outcome = policy::Responded{409, {}};
    }
    // The last step repeats without end, so a route without limits needs a step that takes time.
    if (steps.back().late == Duration::zero()) steps.back().late = 1s;
  }

 private:
  void any_outcome(Step& step) {
    if (one_in(2)) {
      static constexpr std::array common{503, 404, 409, 412};
      policy::Responded response{one_in(2) ? pick(common) : static_cast<int>(200 + below(400)), {}};
      response.hints.said_no = one_in(4);
      response.hints.from_reprise = one_in(4);
      if (one_in(3)) response.hints.retry_after = std::chrono::milliseconds(1 + below(100'000));
      response.body_listed = one_in(4);
      response.body_refused = response.body_listed && one_in(2);
      if (one_in(4)) response.grpc = any<policy::GrpcStatus>();
      if (one_in(4)) response.hints.aws_retry_after = std::chrono::milliseconds(below(20'000));
      step.outcome = response;
      return;
    }
    const Stage stage = any<Stage>();
    step = fails(stage, any<Cause>());
    if (one_in(8)) step = step.unprocessed();
    step.on_reused = one_in(2);
  }

  policy::Backoff backoff() {
    static constexpr std::array initials{0ms, 1ms, 250ms, 1000ms, 64000ms};
    static constexpr std::array growths{1.0, 1.5, 2.0, 10.0};
    return {pick(initials), pick(growths), std::chrono::milliseconds(1 + below(64'000)),
            any<policy::Jitter>()};
  }
};

TEST(Law, invariants_hold_for_random_scenarios) {
  Draw draw(20250101);
  policy::SeededDice waits(1);
  std::map<policy::Reason, std::uint64_t> ends;
  Script script;
  for (std::uint64_t story = 0; story < random_stories; ++story) {
    const Scene scene = draw.scene();
    draw.script(script);
    const Played played = run(scene, script, waits);
    ASSERT_TRUE(obeys(scene, script, played, story));
    ++ends[played.ledger.reason];
  }
  // Coverage: every reason must be reached by at least one random story in a thousand.
  for (const policy::Reason reason : policy::all_reasons()) {
    // A story has no earlier requests to the same host, so it cannot reach these reasons.
    const bool of_the_host = reason == policy::Reason::circuit_open || reason == policy::Reason::host_paused;
    if (is_retry(reason) || of_the_host) continue;
    EXPECT_GE(ends[reason], random_stories / 1000) << word(reason);
  }
}

TEST(Law, same_seed_generates_the_same_scenarios) {
  const auto tell = [] {
    Draw draw(7);
    policy::SeededDice waits(8);
    Script script;
    std::string told;
    for (int i = 0; i < 1000; ++i) {
      const Scene scene = draw.scene();
      draw.script(script);
      told += transcript(run(scene, script, waits), script);
    }
    return told;
  };
  EXPECT_EQ(tell(), tell());
}

// Tests the invariants themselves: each case changes the script or the result of a run, and an invariant must
// detect the change.
TEST(Law, every_result_that_was_tampered_with_violates_an_invariant) {
  const Script script{status(503), status(200)};
  const Scene scene = put().budget(2);
  const Played good = run(scene, script);
  ASSERT_EQ(first_broken_law(scene, script, good), "");
  const auto broken = [&](auto tamper) {
    Played bad = good;
    tamper(bad);
    return std::string(first_broken_law(scene, script, bad));
  };
  EXPECT_EQ(broken([](Played& p) { p.over = false; }),
            "every exchange ends in exactly one of deliver, fail, cut, leave");
  EXPECT_EQ(broken([](Played& p) { p.stuck = true; }),
            "every exchange ends in exactly one of deliver, fail, cut, leave");
  EXPECT_EQ(broken([](Played& p) { p.stirred_after_end = true; }), "no action after the end");
  EXPECT_EQ(broken([](Played& p) { p.ledger[1].attempt.number = 3; }), "the ledger is consistent");
  EXPECT_EQ(broken([](Played& p) { p.entries[1].attempt.number = 3; }), "the ledger is consistent");
  EXPECT_EQ(broken([](Played& p) { p.ledger.add(p.ledger.back()); }), "the ledger is consistent");
  EXPECT_EQ(broken([](Played& p) { p.deadline = epoch; }),
            "no attempt starts and no wait ends after the deadline");
  EXPECT_EQ(broken([](Played& p) { p.ledger.ambiguous = true; }),
            "a response that our own attempt may have caused is called ambiguous");
  EXPECT_EQ(broken([](Played& p) { p.budget_after = p.budget_before; }),
            "the budget pays for started retries and for nothing else");
  EXPECT_EQ(first_broken_law(post(), script, good), "no effect is repeated");
  EXPECT_EQ(first_broken_law(scene.attempts(1), script, good), "attempts are bounded");
  EXPECT_EQ(first_broken_law(scene, {status(503).retry_after(1s), status(200)}, good),
            "never sooner than asked");
  EXPECT_EQ(first_broken_law(scene, {status(503).aws_retry_after(1s), status(200)}, good),
            "never sooner than asked");
  EXPECT_EQ(first_broken_law(scene.signed_until(epoch), script, good),
            "nothing is sent again after the signature has run out");
  EXPECT_EQ(first_broken_law(scene, {status(501), status(200)}, good),
            "only what the route lists is retried");
  EXPECT_EQ(first_broken_law(scene, {status(503), refused}, good),
            "the client gets the last response at hand");
}

}  // namespace
}  // namespace reprise::play
