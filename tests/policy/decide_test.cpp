// Tests decide(): the order of its gates, and the time limits that it shares with the I/O.
#include "proxy/policy/decision/decide.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "tests/support/script.hpp"

namespace reprise::policy {
namespace {

using namespace std::chrono_literals;

constexpr Instant now{1h};
constexpr double plenty = std::numeric_limits<double>::infinity();

/// The inputs of decide(), with every gate open.
struct Case {
  Facts facts{Idempotency::yes, false, true};
  Attempt attempt{.sent = Sent::maybe};
  Outcome outcome = Responded{503, {}};
  RoutePolicy policy;
  std::optional<Instant> deadline = now + 1min;
  double budget_left = plenty;
  play::LoadedDice dice = play::LoadedDice::highest();

  Verdict decided() { return decide(facts, attempt, outcome, policy, now, deadline, dice, budget_left); }
};

TEST(Decide, request_is_retried_if_no_gate_is_closed) {
  Case open;
  const Verdict verdict = open.decided();
  EXPECT_TRUE(verdict.retry);
  EXPECT_EQ(verdict.reason, Reason::retryable_status);
  EXPECT_EQ(verdict.delay, 250ms);
  open.outcome = Failed{Stage::await_head, Cause::reset};
  EXPECT_EQ(open.decided().reason, Reason::retryable_failure);
  open.outcome = Responded{200, {}, true};
  EXPECT_TRUE(open.decided().retry);
  EXPECT_EQ(open.decided().reason, Reason::retryable_body);
}

TEST(Decide, D17_body_that_cannot_be_read_back_is_not_replayable) {
  Case lost;
  lost.outcome = Failed{Stage::send, Cause::replay_lost};
  EXPECT_FALSE(lost.decided().retry);
  EXPECT_EQ(lost.decided().reason, Reason::not_replayable);
  lost.attempt.reused = true;
  EXPECT_EQ(lost.decided().reason, Reason::not_replayable);
}

TEST(Decide, requests_that_no_rule_could_retry_use_no_disk_space) {
  const Facts facts{Idempotency::yes, false, true};
  const RoutePolicy policy;
  EXPECT_EQ(disk_share(facts, policy), policy.replay_disk_bytes);
  const auto share = [&](void (*change)(Facts&, RoutePolicy&)) {
    Facts changed_facts = facts;
    RoutePolicy changed = policy;
    change(changed_facts, changed);
    return disk_share(changed_facts, changed);
  };
  EXPECT_EQ(share([](Facts& f, RoutePolicy&) { f.no_store = true; }), 0U);  // row D16
  EXPECT_EQ(share([](Facts& f, RoutePolicy&) { f.idempotent = Idempotency::no; }), 0U);
  EXPECT_EQ(share([](Facts& f, RoutePolicy&) { f.idempotent = Idempotency::undecided; }), 0U);
  EXPECT_EQ(share([](Facts&, RoutePolicy& p) { p.mode = Mode::off; }), 0U);
  EXPECT_EQ(share([](Facts&, RoutePolicy& p) { p.mode = Mode::observe; }), 0U);
  EXPECT_EQ(share([](Facts&, RoutePolicy& p) { p.retry.max_attempts = 1; }), 0U);
  EXPECT_EQ(share([](Facts&, RoutePolicy& p) { p.retry.nested = Nested::refuse; }), 0U);
  EXPECT_GT(share([](Facts&, RoutePolicy& p) { p.retry.max_attempts.reset(); }), 0U);
  EXPECT_GT(share([](Facts& f, RoutePolicy& p) {
              f.nested = false;
              p.retry.nested = Nested::refuse;
            }),
            0U);
}

struct Gate {
  Reason reason;
  void (*close)(Case&);
  bool needs_the_wait = false;  ///< true if the gate depends on the wait, which one roll draws
};

// Returns the gates from last to first.
const std::vector<Gate>& gates() {
  static const std::vector<Gate> all{
      {Reason::observe_only, [](Case& c) { c.policy.mode = Mode::observe; }, true},
      {Reason::budget_spent, [](Case& c) { c.budget_left = 0; }, true},
      {Reason::signature_expired, [](Case& c) { c.facts.signed_until = now + 249ms; }, true},
      {Reason::deadline_too_near, [](Case& c) { c.deadline = now + 249ms; }, true},
      {Reason::upstream_said_later, [](Case& c) { std::get<Responded>(c.outcome).hints.retry_after = 61s; }},
      {Reason::attempts_spent, [](Case& c) { c.attempt.charged = 6; }},
      {Reason::not_replayable, [](Case& c) { c.attempt.replayable = false; }},
      {Reason::not_idempotent, [](Case& c) { c.facts.idempotent = Idempotency::undecided; }},
      {Reason::nested_retry, [](Case& c) { std::get<Responded>(c.outcome).hints.from_reprise = true; }},
      {Reason::nested_retry, [](Case& c) { c.policy.retry.nested = Nested::refuse; }},
      {Reason::upstream_said_no, [](Case& c) { std::get<Responded>(c.outcome).hints.said_no = true; }},
      {Reason::retries_off, [](Case& c) { c.policy.mode = Mode::off; }},
      {Reason::not_retryable, [](Case& c) { std::get<Responded>(c.outcome).status = 501; }},
      {Reason::address_denied,
       [](Case& c) {
         c.outcome = Failed{Stage::connect, Cause::address_denied};
       }},
      {Reason::success,
       [](Case& c) {
         c.outcome = Responded{204, {}};
       }},
  };
  return all;
}

/// Returns the reasons that end a request outside decide(): because of its host, its client, its download or
/// the shutdown.
const std::set<Reason>& given_elsewhere() {
  static const std::set<Reason> all{
      Reason::circuit_open,    Reason::host_paused, Reason::ambiguous_outcome, Reason::response_started,
      Reason::resume_mismatch, Reason::client_gone, Reason::shutting_down};
  return all;
}

TEST(Decide, each_reason_belongs_to_a_gate_or_to_the_list_of_other_reasons) {
  for (const Reason reason : all_reasons()) {
    const bool is_gate = std::any_of(gates().begin(), gates().end(),
                                     [reason](const Gate& gate) { return gate.reason == reason; });
    EXPECT_TRUE(is_retry(reason) || is_gate != given_elsewhere().contains(reason)) << word(reason);
  }
}

TEST(Decide, each_gate_prevents_the_retry_if_it_is_the_only_closed_gate) {
  for (const Gate& gate : gates()) {
    Case closed;
    gate.close(closed);
    const Verdict verdict = closed.decided();
    EXPECT_FALSE(verdict.retry) << word(gate.reason);
    EXPECT_EQ(verdict.reason, gate.reason) << word(gate.reason);
  }
}

TEST(Decide, first_closed_gate_in_the_order_of_checks_gives_the_reason) {
  Case closed;
  for (const Gate& gate : gates()) {
    gate.close(closed);
    EXPECT_EQ(closed.decided().reason, gate.reason) << word(gate.reason);
  }
}

TEST(Decide, random_wait_is_not_drawn_if_an_earlier_gate_already_prevents_the_retry) {
  for (const Gate& gate : gates()) {
    Case closed;
    gate.close(closed);
    closed.decided();
    EXPECT_EQ(closed.dice.rolled(), gate.needs_the_wait ? 1U : 0U) << word(gate.reason);
  }
}

TEST(Decide, observe_mode_reports_how_long_a_retry_would_have_waited) {
  Case observed;
  observed.policy.mode = Mode::observe;
  std::get<Responded>(observed.outcome).hints.retry_after = 3s;
  EXPECT_EQ(observed.decided().delay, 3s);
}

TEST(Decide, backoff_grows_only_with_attempts_that_were_charged) {
  Case counted;
  counted.attempt.number = 4;
  counted.attempt.charged = 3;
  EXPECT_EQ(counted.decided().delay, 1s);
}

TEST(Decide, decorrelated_backoff_uses_the_previous_wait) {
  Case grown;
  grown.policy.retry.backoff.jitter = Jitter::decorrelated;
  grown.attempt.wait = 1s;
  EXPECT_EQ(grown.decided().delay, 3s);
}

TEST(Decide, retry_needs_at_least_one_retry_left_in_the_budget) {
  Case last;
  last.budget_left = 1;
  EXPECT_TRUE(last.decided().retry);
  last.budget_left = 0.9;
  EXPECT_FALSE(last.decided().retry);
}

TEST(Decide, retries_continue_for_ever_without_limits) {
  Case endless;
  endless.deadline.reset();
  endless.policy.retry.max_attempts.reset();
  endless.attempt.number = endless.attempt.charged = std::numeric_limits<unsigned>::max();
  EXPECT_TRUE(endless.decided().retry);
  EXPECT_EQ(endless.decided().delay, 8s);
}

// Before the stage `send`, the request counts as not sent, whatever the report about the attempt says. From
// `send` on, the report decides.
TEST(Decide, any_method_is_retried_while_no_byte_was_sent) {
  for (const Stage stage :
       {Stage::resolve, Stage::connect, Stage::tls, Stage::send, Stage::await_head, Stage::head}) {
    for (const Sent sent : {Sent::nothing, Sent::maybe}) {
      Case unsafe;
      unsafe.facts.idempotent = Idempotency::no;
      unsafe.outcome = Failed{stage, Cause::reset};
      unsafe.attempt.sent = sent;
      EXPECT_EQ(unsafe.decided().retry, stage < Stage::send || sent == Sent::nothing) << word(stage);
    }
  }
}

TEST(Decide, stale_connection_is_replaced_until_the_deadline) {
  Case stale;
  stale.attempt.reused = true;
  stale.outcome = Failed{Stage::await_head, Cause::closed};
  stale.deadline = now;
  EXPECT_EQ(stale.decided().reason, Reason::stale_connection);
  stale.deadline = now - 1ns;
  EXPECT_EQ(stale.decided().reason, Reason::deadline_too_near);
}

TEST(Decide, retry_at_the_last_instant_of_a_signature_is_allowed) {
  Case signed_request;
  signed_request.facts.signed_until = now + 250ms;
  EXPECT_TRUE(signed_request.decided().retry);
  signed_request.facts.signed_until = now + 250ms - 1ns;
  const Verdict verdict = signed_request.decided();
  EXPECT_EQ(verdict.reason, Reason::signature_expired);
  EXPECT_EQ(verdict.delay, 250ms);
  signed_request.facts.signed_until.reset();
  EXPECT_TRUE(signed_request.decided().retry) << "an unsigned request has no end";
}

TEST(Decide, stale_connection_is_replaced_while_the_signature_is_valid) {
  Case stale;
  stale.attempt.reused = true;
  stale.attempt.sent = Sent::nothing;
  stale.outcome = Failed{Stage::send, Cause::reset};
  stale.facts.signed_until = now;
  EXPECT_EQ(stale.decided().reason, Reason::stale_connection);
  stale.facts.signed_until = now - 1ns;
  EXPECT_EQ(stale.decided().reason, Reason::signature_expired);
}

// The backoff is 250 ms, which is the highest roll of the first wait.
TEST(Decide, x_amz_retry_after_is_limited_to_the_backoff_plus_five_seconds) {
  struct Row {
    std::optional<Duration> retry_after;
    std::optional<Duration> aws_retry_after;
    Duration delay;
  };
  const std::vector<Row> rows{
      {{}, {}, 250ms},
      {{}, 0ms, 250ms},
      {{}, 249ms, 250ms},
      {{}, 251ms, 251ms},
      {{}, 3s, 3s},
      {{}, 5250ms, 5250ms},
      {{}, 5251ms, 5250ms},
      {{}, 24h, 5250ms},
      {{}, Duration::max(), 5250ms},
      {{}, -1s, 250ms},
      {{}, Duration::min(), 250ms},
      {2s, 3s, 3s},
      {3s, 2s, 3s},
      {10s, 24h, 10s},
      {5s, 24h, 5250ms},
      {1ms, 1ms, 250ms},
  };
  for (const Row& row : rows) {
    Case asked;
    std::get<Responded>(asked.outcome).hints = {row.retry_after, row.aws_retry_after, false};
    EXPECT_EQ(asked.decided().delay, row.delay) << row.delay.count();
    EXPECT_TRUE(asked.decided().retry);
    asked.policy.retry.retry_after.honour = false;
    EXPECT_EQ(asked.decided().delay, 250ms) << "not honoured";
  }
}

TEST(Decide, reason_of_a_denied_address_is_address_denied_even_in_mode_off) {
  Case denied;
  denied.outcome = Failed{Stage::resolve, Cause::address_denied};
  denied.policy.mode = Mode::off;
  EXPECT_EQ(denied.decided().reason, Reason::address_denied);
}

TEST(Decide, L6_attempt_ended_by_the_deadline_has_reason_deadline_too_near) {
  const Failed ended[] = {
      {Stage::resolve, Cause::dns_timeout},    {Stage::connect, Cause::connect_timeout},
      {Stage::connect, Cause::parent_timeout}, {Stage::tls, Cause::connect_timeout},
      {Stage::send, Cause::attempt_timeout},   {Stage::await_head, Cause::attempt_timeout}};
  for (const Failed& failed : ended) {
    Case late;
    late.outcome = failed;
    late.deadline = now;
    // Makes other gates refuse the retry too. The reason must still be the deadline.
    late.policy.retry.on = {};
    late.policy.retry.max_attempts = 1;
    late.policy.retry.backoff.initial = late.policy.retry.backoff.maximum = Duration::zero();
    EXPECT_EQ(late.decided().reason, Reason::deadline_too_near) << word(failed.cause);
    EXPECT_EQ(late.dice.rolled(), 0U);
    late.deadline = now + 1ms;
    EXPECT_EQ(late.decided().reason, Reason::not_retryable) << word(failed.cause);
    late.deadline.reset();
    EXPECT_EQ(late.decided().reason, Reason::not_retryable) << word(failed.cause);
  }
}

TEST(Decide, L6_failures_not_caused_by_the_deadline_keep_their_reason) {
  Case late;
  late.deadline = now - 1s;
  late.policy.retry.on = {};
  late.outcome = Failed{Stage::await_head, Cause::response_timeout};
  EXPECT_EQ(late.decided().reason, Reason::not_retryable);
  late.outcome = Failed{Stage::connect, Cause::refused};
  EXPECT_EQ(late.decided().reason, Reason::not_retryable);
  late.outcome = Responded{501, {}};
  EXPECT_EQ(late.decided().reason, Reason::not_retryable);
}

// Only a repeatable attempt ends at attempt_timeout or at the deadline. The create-only PUT is not
// repeatable, but its body is held on disk, because some responses still allow a retry.
TEST(Repeatable, N16_N17_create_only_put_and_one_time_credentials_are_not_repeatable) {
  RoutePolicy policy;
  Facts facts{Idempotency::yes, false, false};
  facts.create_only = true;
  EXPECT_FALSE(is_repeatable(facts, policy, true));
  EXPECT_EQ(disk_share(facts, policy), policy.replay_disk_bytes);
  policy.idempotent.kind = IdempotencyRule::Kind::always;
  EXPECT_TRUE(is_repeatable(facts, policy, true)) << "a rule says so";
  facts.one_time = true;
  EXPECT_FALSE(is_repeatable(facts, policy, true));
}

TEST(Repeatable, repeatable_request_needs_active_mode_a_held_body_and_idempotency) {
  RoutePolicy policy;
  EXPECT_TRUE(is_repeatable({Idempotency::yes, false, false}, policy, true));
  EXPECT_FALSE(is_repeatable({Idempotency::yes, false, false}, policy, false));
  EXPECT_FALSE(is_repeatable({Idempotency::no, true, false}, policy, true));
  EXPECT_FALSE(is_repeatable({Idempotency::undecided, false, false}, policy, true));
  for (const Mode mode : {Mode::observe, Mode::off}) {
    policy.mode = mode;
    EXPECT_FALSE(is_repeatable({Idempotency::yes, false, false}, policy, true));
  }
}

TEST(Decide, nonexistent_name_is_looked_up_twice_more_within_two_seconds) {
  Case misspelled;
  misspelled.deadline = std::nullopt;
  misspelled.policy.retry.max_attempts = std::nullopt;
  misspelled.policy.retry.backoff = {.initial = 10s, .maximum = 1min, .jitter = Jitter::none};
  Failed failed{Stage::resolve, Cause::dns_error};
  failed.never_existed = true;
  misspelled.outcome = failed;
  for (const unsigned number : {1U, 2U, 3U}) {
    misspelled.attempt.number = misspelled.attempt.charged = number;
    const Verdict verdict = misspelled.decided();
    EXPECT_EQ(verdict.retry, number < 3) << number;
    EXPECT_EQ(verdict.reason, number < 3 ? Reason::retryable_failure : Reason::attempts_spent);
    if (number < 3) {
      EXPECT_EQ(verdict.delay, 1s);
    }
  }
  misspelled.outcome = Failed{Stage::resolve, Cause::dns_error};
  misspelled.attempt.number = misspelled.attempt.charged = 9;
  EXPECT_TRUE(misspelled.decided().retry) << "a service that restarts is waited for";
}

TEST(HeadLimit, no_head_limit_applies_by_default) {
  RoutePolicy policy;
  const HeadLimit limit = head_limit(policy, true, now, now + 1s);
  EXPECT_EQ(limit.at, no_end);
  EXPECT_EQ(limit.cause, Cause::response_timeout);
}

TEST(HeadLimit, head_limit_is_the_earlier_of_attempt_timeout_and_deadline) {
  RoutePolicy policy;
  policy.retry.attempt_timeout = 10s;
  EXPECT_EQ(head_limit(policy, true, now, now + 1min).at, now + 10s);
  EXPECT_EQ(head_limit(policy, true, now, now + 4s).at, now + 4s);
  EXPECT_EQ(head_limit(policy, true, now, std::nullopt).at, now + 10s);
  EXPECT_EQ(head_limit(policy, true, now, now + 4s).cause, Cause::attempt_timeout);
}

TEST(HeadLimit, attempt_that_cannot_be_retried_is_limited_by_response_timeout_only) {
  RoutePolicy policy;
  policy.retry.attempt_timeout = 10s;
  policy.response_timeout = 2min;
  const HeadLimit limit = head_limit(policy, false, now, now + 4s);
  EXPECT_EQ(limit.at, now + 2min);
  EXPECT_EQ(limit.cause, Cause::response_timeout);
}

}  // namespace
}  // namespace reprise::policy
