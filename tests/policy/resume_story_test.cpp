// Tests stories of downloads that break after their head was delivered: when the proxy resumes, waits for or
// cuts the download, and why.
#include <gtest/gtest.h>

#include <tuple>

#include "tests/policy/stories.hpp"

namespace reprise::play::resume_story_test {
namespace {

constexpr Interruption fin = Interruption::fin;
constexpr Interruption rst = Interruption::rst;
constexpr Interruption shutdown = Interruption::shutdown;

Step breaks_mid_way(int code) { return status(code).body_breaks(Breaking::mid_way); }
Step breaks_in_vain(int code) { return status(code).body_breaks(Breaking::in_vain); }

std::vector<Story> continued() {
  return {
      {"a_break_is_continued",
       get(),
       {breaks_mid_way(200), status(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 206 | continue\n"},
      {"the_same_representation_again_is_as_good",
       get(),
       {breaks_mid_way(200), status(200)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 200 | continue\n"},
      {"whatever_break_comes_after_progress_waits_the_first_wait",
       get().resumes(1),
       {breaks_mid_way(200), breaks_mid_way(206), breaks_mid_way(206), status(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 206 | continue\n"
       "the body breaks | sleep 250ms\n"
       "attempt 3 -> 206 | continue\n"
       "the body breaks | sleep 250ms\n"
       "attempt 4 -> 206 | continue\n"},
      {"attempts_that_bring_no_byte_wait_longer_and_longer",
       get(),
       {breaks_in_vain(200), refused, timed_out, status(503), breaks_in_vain(206), status(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> connect refused | sleep 500ms\n"
       "attempt 3 -> await_head attempt_timeout | sleep 1000ms\n"
       "attempt 4 -> 503 | sleep 2000ms\n"
       "attempt 5 -> 206 | continue\n"
       "the body breaks | sleep 4000ms\n"
       "attempt 6 -> 206 | continue\n"},
  };
}

std::vector<Story> continued_under_limits() {
  return {
      {"what_was_waited_before_the_head_does_not_count",
       get().resumes(2),
       {status(503), status(503), breaks_mid_way(200), refused, status(206)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 4 -> connect refused | sleep 500ms\n"
       "attempt 5 -> 206 | continue\n"},
      {"max_attempts_of_retry_does_not_count_resumes",
       get().attempts(1),
       {breaks_mid_way(200), refused, refused, status(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> connect refused | sleep 500ms\n"
       "attempt 3 -> connect refused | sleep 1000ms\n"
       "attempt 4 -> 206 | continue\n"},
      {"the_deadline_does_not_apply",
       get().deadline(1s),
       {breaks_mid_way(200).takes(1s), status(503).takes(10s), status(206).takes(1h)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 503 | sleep 500ms\n"
       "attempt 3 -> 206 | continue\n"},
      {"a_hint_of_a_refusal_is_honoured",
       get(),
       {breaks_mid_way(200), status(503).retry_after(7s), status(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 503 Retry-After 7000ms | sleep 7000ms\n"
       "attempt 3 -> 206 | continue\n"},
      {"a_hint_of_just_as_long_as_the_route_allows_is_honoured",
       get(),
       {breaks_mid_way(200), status(503).retry_after(60s), status(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 503 Retry-After 60000ms | sleep 60000ms\n"
       "attempt 3 -> 206 | continue\n"},
      {"what_another_reprise_gave_up_is_asked_for_where_the_route_allows",
       get().with([](auto& p, auto&) { p.retry.inner = policy::Nested::allow; }),
       {breaks_mid_way(200), from_reprise(503), status(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 503 from reprise | sleep 500ms\n"
       "attempt 3 -> 206 | continue\n"},
      {"a_wait_that_ends_late_goes_on_all_the_same",
       get().deadline(1s),
       {breaks_mid_way(200).wakes_late(1h), status(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 206 | continue\n"},
  };
}

std::vector<Story> given_up() {
  return {
      {"nothing_to_continue_it_with",
       get(),
       {status(200).body_breaks()},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | cut (response_started)\n"},
      {"E1_E3_something_else_came",
       get(),
       {breaks_mid_way(200), status(206).differing()},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 206 that is not the rest | cut (resume_mismatch)\n"},
      {"E9_a_status_that_is_not_listed",
       get(),
       {breaks_mid_way(200), status(416)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 416 | cut (resume_mismatch)\n"},
      {"a_response_that_cannot_be_read",
       get(),
       {breaks_mid_way(200), fails(Stage::head, Cause::malformed_response)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> head malformed_response | cut (resume_mismatch)\n"},
      {"an_address_that_is_denied_by_now",
       get(),
       {breaks_mid_way(200), fails(Stage::connect, Cause::address_denied)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> connect address_denied | cut (address_denied)\n"},
      {"an_address_that_is_our_own_by_now",
       get(),
       {breaks_mid_way(200), fails(Stage::connect, Cause::address_is_self)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> connect address_is_self | cut (not_retryable)\n"},
  };
}

std::vector<Story> limited() {
  return {
      {"resumes_in_a_row_without_a_byte_are_counted",
       get().resumes(2),
       {breaks_mid_way(200), refused, breaks_in_vain(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> connect refused | sleep 500ms\n"
       "attempt 3 -> 206 | continue\n"
       "the body breaks | cut (attempts_spent)\n"},
      {"the_budget_pays_for_each",
       get().budget(2),
       {breaks_mid_way(200), breaks_mid_way(206), breaks_mid_way(206)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 206 | continue\n"
       "the body breaks | sleep 250ms\n"
       "attempt 3 -> 206 | continue\n"
       "the body breaks | cut (budget_spent)\n"},
      {"a_pause_that_is_too_long",
       get(),
       {breaks_mid_way(200), status(503).retry_after(61s)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 503 Retry-After 61000ms | cut (upstream_said_later)\n"},
      {"a_no",
       get(),
       {breaks_mid_way(200), status(503).says_no()},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 503 said no | cut (upstream_said_no)\n"},
      {"E11_the_signature_would_have_run_out",
       get().signed_until(epoch + 200ms),
       {breaks_mid_way(200)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | cut (signature_expired)\n"},
      {"E11_the_signature_runs_out_during_the_wait",
       get().signed_until(epoch + 300ms).budget(1),
       {breaks_mid_way(200).wakes_late(60ms)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "the wait ends late | cut (signature_expired)\n"},
  };
}

std::vector<Story> unwanted() {
  return {
      {"a_route_that_calls_no_get_idempotent",
       get().idempotent(Idempotency::no),
       {breaks_mid_way(200)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | cut (not_idempotent)\n"},
      {"a_client_on_a_retry_of_its_own",
       get().with([](auto& p, auto& f) {
         f.nested = true;
         p.retry.nested = policy::Nested::refuse;
       }),
       {breaks_mid_way(200)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | cut (nested_retry)\n"},
      {"observe_says_what_it_would_have_done",
       get().mode(policy::Mode::observe).budget(2),
       {breaks_mid_way(200)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | cut (observe_only)\n"},
      {"off",
       get().mode(policy::Mode::off),
       {breaks_mid_way(200)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | cut (response_started)\n"},
      {"switched_off",
       get().with([](auto& p, auto&) { p.resume.enabled = false; }),
       {breaks_mid_way(200)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | cut (response_started)\n"},
  };
}

std::vector<Story> departures() {
  return {
      {"fin_during_the_body_stops_before_the_resume",
       get().budget(1),
       {breaks_mid_way(200).body_sees(fin)},
       "attempt 1 -> 200 | deliver (success)\n"
       "FIN during the body | noted\n"
       "the body breaks | cut (client_gone)\n"},
      {"fin_during_the_wait_for_a_resume",
       get().budget(1),
       {breaks_mid_way(200).wait_sees(fin)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "FIN during the wait | cut (client_gone)\n"},
      {"fin_during_a_resume_leaves_it_its_response",
       get(),
       {breaks_mid_way(200), breaks_mid_way(206).attempt_sees(fin)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "FIN during attempt 2 | noted\n"
       "attempt 2 -> 206 | continue\n"
       "the body breaks | cut (client_gone)\n"},
      {"rst_during_a_resume",
       get(),
       {breaks_mid_way(200), status(206).attempt_sees(rst)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "RST during attempt 2 | cancel 2, leave (client_gone)\n"},
      {"rst_during_the_continued_body",
       get(),
       {breaks_mid_way(200), status(206).body_sees(rst)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "attempt 2 -> 206 | continue\n"
       "RST during the body | cancel 2, leave (client_gone)\n"},
      {"rst_during_the_wait_for_a_resume",
       get().budget(1),
       {breaks_mid_way(200).wait_sees(rst)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "RST during the wait | leave (client_gone)\n"},
      {"shutdown_during_the_wait_for_a_resume",
       get().budget(1),
       {breaks_mid_way(200).wait_sees(shutdown)},
       "attempt 1 -> 200 | deliver (success)\n"
       "the body breaks | sleep 250ms\n"
       "shutdown during the wait | cut (shutting_down)\n"},
      {"shutdown_during_the_body_lets_no_resume_start",
       get().budget(1),
       {breaks_mid_way(200).body_sees(shutdown)},
       "attempt 1 -> 200 | deliver (success)\n"
       "shutdown during the body | noted\n"
       "the body breaks | cut (shutting_down)\n"},
  };
}

class Resume : public testing::TestWithParam<Story> {};

TEST_P(Resume, scenario_has_the_expected_transcript) {
  EXPECT_EQ(play(GetParam().scene, GetParam().script), GetParam().transcript);
}

INSTANTIATE_TEST_SUITE_P(Stories, Resume, testing::ValuesIn(resume_stories()),
                         [](const auto& instance) { return instance.param.name; });

std::vector<policy::Reason> reasons(const Played& played) {
  std::vector<policy::Reason> all;
  for (std::size_t i = 0; i < played.ledger.size(); ++i) all.push_back(played.ledger[i].verdict.reason);
  return all;
}

TEST(ResumeLedger, ledger_records_the_reason_resumed_for_every_kind_of_break) {
  const Script script{breaks_mid_way(200), refused, status(503), breaks_in_vain(206), status(206)};
  const Played played = run(get(), script);
  using enum policy::Reason;
  EXPECT_EQ(reasons(played), (std::vector{resumed, resumed, resumed, resumed, success}));
  EXPECT_EQ(played.ledger.reason, success);
  EXPECT_EQ(outcome_label(played.ledger[0].outcome), "truncated");
  EXPECT_EQ(outcome_label(played.ledger[1].outcome), "connect");
  EXPECT_EQ(outcome_label(played.ledger[2].outcome), "5xx");
  EXPECT_EQ(outcome_label(played.ledger[3].outcome), "truncated");
  EXPECT_EQ(outcome_label(played.ledger[4].outcome), "2xx");
}

// Decorrelated jitter depends on the previous wait. After progress there is no previous wait.
TEST(ResumeLedger, decorrelated_backoff_restarts_after_progress) {
  const policy::Backoff backoff{100ms, 2, 60s, policy::Jitter::decorrelated};
  const Script script{breaks_mid_way(200), refused, breaks_mid_way(206), status(206)};
  const Played played = run(get().backoff(backoff), script);
  EXPECT_EQ(played.ledger[1].attempt.wait, 300ms);
  EXPECT_EQ(played.ledger[2].attempt.wait, 900ms);
  EXPECT_EQ(played.ledger[3].attempt.wait, 300ms);
}

TEST(ResumeLedger, continuation_longer_than_the_missing_rest_is_a_mismatch) {
  LoadedDice dice = LoadedDice::lowest();
  const policy::RoutePolicy route;
  const policy::AttemptReport report{false, Sent::maybe, true, Idempotency::yes};
  policy::Exchange exchange(route, get().facts, {}, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(report, {200, {}}, epoch, dice);
  std::ignore = exchange.body_broke({Cause::reset, true, true}, epoch, dice);
  std::ignore = exchange.waited(epoch);
  std::ignore = exchange.continued(report, {206, {}}, epoch);
  policy::Break more{Cause::malformed_response, true, true};
  more.differs = true;
  const policy::Actions end = exchange.body_broke(more, epoch, dice);
  ASSERT_TRUE(std::holds_alternative<policy::Cut>(end[0]));
  EXPECT_EQ(exchange.ledger().reason, policy::Reason::resume_mismatch);
  EXPECT_EQ(exchange.ledger()[1].verdict.reason, policy::Reason::resume_mismatch);
}

TEST(ResumeLedger, complete_response_of_unknown_length_counts_as_a_failed_resume) {
  LoadedDice dice = LoadedDice::lowest();
  policy::RoutePolicy route;
  route.resume.max_attempts = 2;
  const policy::AttemptReport report{false, Sent::maybe, true, Idempotency::yes};
  policy::Exchange exchange(route, get().facts, {}, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(report, {200, {}}, epoch, dice);
  std::ignore = exchange.body_broke({Cause::reset, true, true}, epoch, dice);
  std::ignore = exchange.waited(epoch);
  const policy::Actions again = exchange.uncounted(report, {200, {}}, epoch, dice);
  ASSERT_TRUE(std::holds_alternative<policy::Wait>(again[0]));
  EXPECT_EQ(exchange.ledger()[1].verdict.reason, policy::Reason::resumed);
  ASSERT_TRUE(std::holds_alternative<policy::Resume>(exchange.waited(epoch)[0]));
  const policy::Actions end = exchange.uncounted(report, {200, {}}, epoch, dice);
  ASSERT_TRUE(std::holds_alternative<policy::Cut>(end[0]));
  EXPECT_EQ(exchange.ledger().reason, policy::Reason::attempts_spent);
  EXPECT_EQ(exchange.uncounted(report, {200, {}}, epoch, dice).size(), 0U);
}

/// An exchange whose delivered body has stalled on an open connection.
struct StalledDownload {
  StalledDownload() {
    std::ignore = exchange.begin(epoch, dice);
    std::ignore = exchange.responded(report, {200, {}}, epoch, dice);
    policy::Break stall{Cause::response_timeout, true, true};
    stall.stays_open = true;
    std::ignore = exchange.body_broke(stall, epoch + 30s, dice);
  }

  LoadedDice dice = LoadedDice::lowest();
  policy::RoutePolicy route;
  policy::Budget budget{{0, 1, 10s}};
  policy::AttemptReport report{false, Sent::maybe, true, Idempotency::yes};
  policy::Exchange exchange{route, get().facts, {&budget}, epoch};
};

TEST(StalledBody, stalled_body_that_continues_during_the_wait_counts_as_never_stalled) {
  StalledDownload one;
  const double left = one.budget.left(epoch + 30s);
  const policy::Actions actions = one.exchange.body_went_on({}, epoch + 31s);
  EXPECT_EQ(std::get<policy::Continue>(actions[0]).number, 1U);
  EXPECT_EQ(one.budget.left(epoch + 30s), left + 1) << "what was withdrawn is given back";
  EXPECT_EQ(one.exchange.ledger().size(), 1U);
  EXPECT_EQ(std::get<policy::Responded>(one.exchange.ledger()[0].outcome).status, 200);
  EXPECT_FALSE(one.exchange.ledger()[0].verdict.retry);
  one.exchange.delivered();
  EXPECT_EQ(one.exchange.ledger().reason, policy::Reason::success);
}

TEST(StalledBody, stalled_body_that_continues_before_the_resume_responds_is_kept) {
  StalledDownload one;
  std::ignore = one.exchange.waited(epoch + 31s);
  const policy::Actions actions = one.exchange.body_went_on(one.report, epoch + 40s);
  EXPECT_EQ(std::get<policy::Continue>(actions[0]).number, 1U);
  ASSERT_EQ(one.exchange.ledger().size(), 2U);
  EXPECT_EQ(one.exchange.ledger()[0].verdict.reason, policy::Reason::resumed);
  EXPECT_EQ(std::get<policy::Failed>(one.exchange.ledger()[1].outcome).cause, Cause::cancelled);
  EXPECT_EQ(one.exchange.body_went_on(one.report, epoch + 41s).size(), 0U) << "once";
}

TEST(StalledBody, stalled_body_is_discarded_once_the_resume_brought_a_byte) {
  StalledDownload one;
  std::ignore = one.exchange.waited(epoch + 31s);
  std::ignore = one.exchange.continued(one.report, {206, {}}, epoch + 32s);
  std::ignore = one.exchange.body_broke({Cause::reset, true, true}, epoch + 33s, one.dice);
  EXPECT_EQ(one.exchange.body_went_on({}, epoch + 34s).size(), 0U);
}

// The limits that requests to one host share also apply to resumes.
TEST(ResumeAndHost, circuit_counts_failed_resumes_and_the_response_is_cut_when_it_opens) {
  LoadedDice dice = LoadedDice::lowest();
  const policy::RoutePolicy route;
  policy::Budget budget({0, 1, 10s});
  const policy::AttemptReport report{false, Sent::maybe, true, Idempotency::yes};
  policy::Circuit circuit({0.5, 10s, 1, 5s});
  policy::Exchange exchange(route, get().facts, {&budget, &circuit}, epoch);
  std::ignore = exchange.begin(epoch, dice);
  std::ignore = exchange.responded(report, {200, {}}, epoch, dice);
  std::ignore = exchange.body_broke({Cause::reset, true, true}, epoch, dice);
  std::ignore = exchange.waited(epoch);
  const double before = budget.left(epoch);
  const policy::Actions again = exchange.failed(report, {Stage::connect, Cause::refused}, epoch, dice);
  ASSERT_TRUE(std::holds_alternative<policy::Wait>(again[0]));
  EXPECT_EQ(circuit.state(epoch), policy::Circuit::State::open);
  const policy::Actions end = exchange.waited(epoch);
  ASSERT_TRUE(std::holds_alternative<policy::Cut>(end[0]));
  EXPECT_EQ(exchange.ledger().reason, policy::Reason::circuit_open);
  EXPECT_EQ(exchange.ledger()[1].verdict.reason, policy::Reason::circuit_open);
  EXPECT_EQ(exchange.ledger()[0].verdict.reason, policy::Reason::resumed);
  EXPECT_EQ(budget.left(epoch), before + 1) << "what was refused, and what never started, are given back";
}

}  // namespace
}  // namespace reprise::play::resume_story_test

namespace reprise::play {

std::vector<Story> resume_stories() {
  using namespace resume_story_test;
  return joined({continued(), continued_under_limits(), given_up(), limited(), unwanted(), departures()});
}

}  // namespace reprise::play
