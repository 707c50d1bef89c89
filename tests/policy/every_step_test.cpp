// Plays every story again, once for each step and each way in which the step can fail, and checks the
// invariants.
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

std::vector<Step> every_failure() {
  std::vector<Step> failures;
  for (std::uint8_t stage = 0; stage < policy::stage_count; ++stage) {
    for (std::uint8_t cause = 0; cause < policy::cause_count; ++cause) {
      const Step failure = fails(static_cast<Stage>(stage), static_cast<Cause>(cause));
      failures.push_back(failure);
      failures.push_back(failure.reused());
      if (failure.sent == Sent::maybe) failures.push_back(failure.reused().nothing_sent());
    }
  }
  for (const int code : {200, 404, 409, 412, 421, 429, 503}) {
    for (const Keeping fate : {Keeping::whole, Keeping::dropped, Keeping::still_reading}) {
      failures.push_back(status(code).response(fate));
      failures.push_back(status(code).response(fate).reused());
    }
  }
  failures.push_back(status(503).retry_after(2s));
  failures.push_back(status(503).retry_after(2h));
  failures.push_back(status(503).aws_retry_after(3s));
  failures.push_back(status(503).aws_retry_after(1h).retry_after(2s));
  failures.push_back(status(503).says_no());
  for (const Breaking how : {Breaking::is_permanent, Breaking::in_vain, Breaking::mid_way}) {
    failures.push_back(status(200).body_breaks(how));
    failures.push_back(status(206).body_breaks(how).body_sees(Interruption::fin));
  }
  failures.push_back(ends_call(policy::GrpcStatus::unavailable));
  failures.push_back(ends_call(policy::GrpcStatus::unavailable).retry_after(2s));
  failures.push_back(ends_call(policy::GrpcStatus::aborted));
  failures.push_back(ends_call(policy::GrpcStatus::ok));
  failures.push_back(status(206).differing());
  failures.push_back(status(200).body_listed());
  failures.push_back(status(200).body_listed().retry_after(2s).response(Keeping::dropped));
  return failures;
}

std::vector<Step> every_interruption(const Step& step) {
  std::vector<Step> steps;
  for (const Interruption what : {Interruption::fin, Interruption::rst, Interruption::shutdown}) {
    steps.push_back(step.attempt_sees(what));
    steps.push_back(step.wait_sees(what));
    steps.push_back(step.body_sees(what));
  }
  steps.push_back(step.wakes_late(1ms));
  steps.push_back(step.wakes_late(1h));
  steps.push_back(step.takes(59s));
  steps.push_back(step.takes(61s));
  steps.push_back(step.not_held());
  steps.push_back(step.body_breaks());
  steps.push_back(step.body_breaks(Breaking::mid_way));
  return steps;
}

::testing::AssertionResult holds(const Story& story, const Script& script, std::size_t step) {
  const Played played = run(story.scene, script);
  const std::string_view broken = first_broken_law(story.scene, script, played);
  if (broken.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << story.name << ", step " << step + 1 << ": not so: " << broken << "\n"
                                     << transcript(played, script);
}

// Returns the script with one step per attempt, so that the repeated last step can be broken too.
Script written_out(const Story& story) {
  Script script = story.script;
  script.resize(std::max(script.size(), run(story.scene, story.script).ledger.size()), script.back());
  return script;
}

TEST(EveryStep, invariants_hold_when_any_step_fails_in_any_way) {
  const std::vector<Step> failures = every_failure();
  for (Story story : all_stories()) {
    story.scene.dice = LoadedDice::highest();
    const Script script = written_out(story);
    for (std::size_t i = 0; i < script.size(); ++i) {
      for (const Step& failure : failures) {
        Script broken = script;
        broken[i] = failure;
        ASSERT_TRUE(holds(story, broken, i));
      }
    }
  }
}

TEST(EveryStep, invariants_hold_when_any_step_is_interrupted) {
  for (Story story : all_stories()) {
    story.scene.dice = LoadedDice::highest();
    const Script script = written_out(story);
    for (std::size_t i = 0; i < script.size(); ++i) {
      for (const Step& interrupted : every_interruption(script[i])) {
        Script broken = script;
        broken[i] = interrupted;
        ASSERT_TRUE(holds(story, broken, i));
      }
    }
  }
}

TEST(EveryStep, invariants_hold_when_a_step_fails_and_another_is_interrupted) {
  // A refused connection is not charged to the budget. So if all connections are refused, only the deadline
  // ends the request. Each step `refused` therefore takes 1 s.
  const std::vector<Step> failures{refused.takes(1s),
                                   reset,
                                   closed.reused(),
                                   status(412),
                                   status(421).reused(),
                                   status(503),
                                   status(503).response(Keeping::dropped),
                                   status(503).response(Keeping::still_reading)};
  for (Story story : all_stories()) {
    story.scene.dice = LoadedDice::lowest();
    const Script script = written_out(story);
    const std::size_t i = script.size() - 1;
    for (const Step& failure : failures) {
      for (const Step& interrupted : every_interruption(failure)) {
        Script broken = script;
        broken[i] = interrupted;
        ASSERT_TRUE(holds(story, broken, i));
      }
    }
  }
}

// Returns the reasons that a host's circuit or pause can give before attempt 1. host_share_test.cpp tests
// these cases step by step.
std::set<policy::Reason> reached_before_any_attempt() {
  LoadedDice dice = LoadedDice::lowest();
  policy::RoutePolicy route;
  route.while_paused = policy::WhilePaused::fail;
  policy::HostPause pause;
  pause.ask(epoch + std::chrono::seconds(1));
  policy::Circuit circuit({1, std::chrono::seconds(10), 1, std::chrono::seconds(5)});
  circuit.failed(epoch, epoch);
  policy::Exchange paused(route, {}, {nullptr, nullptr, &pause}, epoch);
  std::ignore = paused.begin(epoch, dice);
  policy::Exchange broken(route, {}, {nullptr, &circuit}, epoch);
  std::ignore = broken.begin(epoch, dice);
  return {paused.ledger().reason, broken.ledger().reason};
}

// Returns the reason that the ledger records for a slow attempt when its hedge is sent. hedge_test.cpp tests
// hedges step by step.
policy::Reason reached_beside_an_attempt() {
  LoadedDice dice = LoadedDice::lowest();
  policy::RoutePolicy route;
  route.hedge = policy::HedgePolicy{};
  policy::Exchange slow(route, {Idempotency::yes, true, false}, {}, epoch);
  std::ignore = slow.begin(epoch, dice);
  std::ignore =
      slow.hedge_due({false, Sent::maybe, true, Idempotency::yes, 1}, epoch + std::chrono::seconds(1));
  return slow.ledger().back().verdict.reason;
}

TEST(EveryReason, every_reason_occurs_in_some_scenario) {
  std::set<policy::Reason> reached = reached_before_any_attempt();
  reached.insert(reached_beside_an_attempt());
  for (const Story& story : all_stories()) {
    const Played played = run(story.scene, story.script);
    reached.insert(played.ledger.reason);
    for (std::size_t i = 0; i < played.ledger.size(); ++i) reached.insert(played.ledger[i].verdict.reason);
  }
  for (const policy::Reason reason : policy::all_reasons()) {
    EXPECT_TRUE(reached.contains(reason)) << word(reason);
  }
}

TEST(EveryStory, scenario_names_are_unique) {
  std::set<std::string> names;
  for (const Story& story : all_stories()) EXPECT_TRUE(names.insert(story.name).second) << story.name;
}

}  // namespace
}  // namespace reprise::play
