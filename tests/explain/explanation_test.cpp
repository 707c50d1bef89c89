// Tests explanations: their verdict equals the verdict of decide(), and simulated runs stay within the
// explained bounds.
#include "proxy/tools/explain/explanation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>

#include "proxy/tools/explain/advice.hpp"
#include "tests/explain/one_route.hpp"
#include "tests/policy/request_lines.hpp"
#include "tests/support/chance.hpp"
#include "tests/support/play.hpp"

namespace reprise::tools::explanation_test {
namespace {

using namespace policy;
using namespace std::chrono_literals;
using play::LoadedDice;

struct Key final : JsonBody {
  bool has(std::string_view key) const override { return key == "etag"; }
};

Route route_of(std::string name, Match match, const RoutePolicy& policy) {
  Route route;
  route.name = std::move(name);
  route.match = std::move(match);
  route.policy = policy;
  return route;
}

/// A source of random routes, requests and outcomes.
class Draw : public play::Chance {
 public:
  using Chance::Chance;

  RoutePolicy policy() {
    static constexpr std::array deadlines{0s, 1s, 10s, 60s, 600s};
    static constexpr std::array modes{Mode::active, Mode::active, Mode::active, Mode::observe, Mode::off};
    RoutePolicy policy;
    policy.mode = pick(modes);
    policy.idempotent = rule();
    policy.retry.max_attempts = static_cast<unsigned>(below(9) + 1);
    policy.retry.deadline = pick(deadlines);
    if (one_in(4)) policy.retry.max_attempts.reset();
    if (policy.retry.max_attempts && one_in(4)) policy.retry.deadline.reset();
    if (one_in(3)) policy.retry.attempt_timeout = std::chrono::milliseconds(1 + below(5000));
    if (one_in(3)) policy.retry.nested = Nested::refuse;
    if (one_in(3)) policy.retry.inner = Nested::allow;
    if (one_in(2)) policy.replay_memory_bytes = 0;
    if (one_in(2)) policy.replay_disk_bytes = 0;
    policy.retry.backoff = backoff();
    policy.retry.retry_after = {!one_in(4), std::chrono::seconds(below(100))};
    if (one_in(4)) policy.budget.reset();
    if (one_in(8)) policy.budget = BudgetPolicy{0, static_cast<double>(below(4)), 1s};
    return policy;
  }

  Match match() {
    Match match;
    if (one_in(2)) match.host.text = "api.internal";
    if (one_in(4)) match.port = 8080;
    if (one_in(2)) match.methods = {"GET", "POST"};
    if (one_in(2)) match.path = *PathPattern::parse("/v1/**");
    if (one_in(4)) match.query = {{Condition::Kind::query, "id", ""}};
    if (one_in(4)) match.headers = {{Condition::Kind::header, "If-Match", ""}};
    return match;
  }

  RouteTable routes() {
    std::vector<Route> list;
    for (std::uint64_t i = below(4); i > 0; --i) list.push_back(route_of("route", match(), policy()));
    return RouteTable(std::move(list), route_of("default", {}, policy()));
  }

  RequestView request() {
    static constexpr std::array<std::string_view, 4> methods{"GET", "POST", "PUT", "PATCH"};
    static constexpr std::array<std::string_view, 2> hosts{"api.internal", "other.internal"};
    static constexpr std::array<std::string_view, 2> paths{"/v1/x", "/"};
    static constexpr std::array<std::string_view, 2> queries{"", "id=7"};
    static constexpr std::array<std::uint16_t, 2> ports{80, 8080};
    static const Lines lines{{{"If-Match", "abc"}}};
    return {pick(methods), pick(hosts),   pick(ports),
            pick(paths),   pick(queries), one_in(2) ? &lines : nullptr};
  }

  Question question() {
    static const Key body;
    Question question;
    question.request = request();
    if (one_in(2)) question.body = &body;
    if (one_in(2)) question.body_bytes = 1 + below(1000);
    question.facts.nested = one_in(4);
    if (one_in(8)) question.facts.signed_until = Instant{std::chrono::milliseconds(below(20'000))};
    question.outcome = outcome();
    question.first.charged = static_cast<unsigned>(one_in(2) ? 1 : 1 + below(9));
    question.first.number = question.first.charged + static_cast<unsigned>(below(2));
    question.first.stale_retry_used = question.first.number > question.first.charged;
    question.first.reused = one_in(4);
    question.first.replayable = !one_in(8);
    const auto* failed = std::get_if<Failed>(&question.outcome);
    const bool may_be_sent = failed == nullptr || failed->stage >= Stage::send;
    question.first.sent = may_be_sent && !one_in(8) ? Sent::maybe : Sent::nothing;
    return question;
  }

 private:
  IdempotencyRule rule() {
    static const std::vector<Condition> conditions{{Condition::Kind::json, "etag", ""},
                                                   {Condition::Kind::header, "If-Match", ""},
                                                   {Condition::Kind::method, "PUT", ""}};
    const auto kind = any<IdempotencyRule::Kind>();
    if (kind < IdempotencyRule::Kind::any) return {kind, {}};
    return {kind, {pick(conditions), pick(conditions)}};
  }

  Outcome outcome() {
    static constexpr std::array statuses{200, 404, 421, 429, 503, 503, 503};
    if (one_in(3)) return Failed{any<Stage>(), any<Cause>()};
    Responded response{pick(statuses), {}};
    if (one_in(3)) response.hints.retry_after = std::chrono::milliseconds(1 + below(100'000));
    if (one_in(8)) response.hints.aws_retry_after = std::chrono::milliseconds(1 + below(20'000));
    response.hints.said_no = one_in(10);
    return response;
  }

  Backoff backoff() {
    static constexpr std::array initials{0ms, 1ms, 250ms, 1000ms, 64000ms};
    static constexpr std::array growths{1.0, 1.5, 2.0, 10.0};
    return {pick(initials), pick(growths), std::chrono::milliseconds(1 + below(64'000)), any<Jitter>()};
  }
};

bool same(const Verdict& a, const Verdict& b) {
  return a.retry == b.retry && a.delay == b.delay && a.reason == b.reason;
}

bool breaks(const Question& question) {
  const auto* failed = std::get_if<Failed>(&question.outcome);
  return failed != nullptr && failed->stage == Stage::body;
}

/// Returns the verdict of decide() for the first attempt of `course`.
Verdict decided(const Explanation& told, const Course& course, const RoutePolicy& policy, LoadedDice dice) {
  const Instant now = Instant{} + course.first_ended;
  std::optional<Instant> deadline;
  if (policy.retry.deadline) deadline = Instant{} + *policy.retry.deadline;
  return decide(told.facts, course.first, told.outcome, policy, now, deadline, dice,
                course.first_budget_left);
}

TEST(Explanation, first_verdict_equals_the_decision_of_the_retry_engine) {
  Draw draw(20260101);
  std::map<Reason, unsigned> seen;
  for (int i = 0; i < 20'000; ++i) {
    const RouteTable routes = draw.routes();
    const Question question = draw.question();
    const Explanation told = explain(routes, question);
    const RoutePolicy& policy = routes[told.route].policy;
    if (!breaks(question)) {
      ASSERT_TRUE(same(told.lowest.first_verdict, decided(told, told.lowest, policy, LoadedDice::lowest())));
      ASSERT_TRUE(
          same(told.highest.first_verdict, decided(told, told.highest, policy, LoadedDice::highest())));
    }
    ASSERT_EQ(told.lowest.first.number, question.first.number);
    ASSERT_EQ(told.lowest.first.charged, question.first.charged);
    ASSERT_EQ(told.lowest.first.reused, question.first.reused);
    ASSERT_EQ(told.lowest.first.sent, question.first.sent);
    ++seen[told.lowest.first_verdict.reason];
  }
  for (const Reason reason :
       {Reason::success, Reason::not_retryable, Reason::retryable_status, Reason::retryable_failure,
        Reason::stale_connection, Reason::not_idempotent, Reason::not_replayable, Reason::attempts_spent,
        Reason::deadline_too_near, Reason::budget_spent, Reason::upstream_said_later,
        Reason::upstream_said_no, Reason::nested_retry, Reason::signature_expired, Reason::address_denied,
        Reason::response_started, Reason::observe_only, Reason::retries_off}) {
    EXPECT_GE(seen[reason], 20U) << word(reason);
  }
}

TEST(Explanation, route_and_idempotency_equal_those_of_the_data_path) {
  Draw draw(20260102);
  for (int i = 0; i < 5'000; ++i) {
    const RouteTable routes = draw.routes();
    const Question question = draw.question();
    const Explanation told = explain(routes, question);
    ASSERT_EQ(told.route, routes.find(question.request));
    ASSERT_EQ(told.passed_over.size(), told.route);
    for (const PassedOver& passed : told.passed_over) {
      ASSERT_NE(passed.why, Mismatch::none);
      ASSERT_EQ(passed.why, routes[passed.route].match.first_mismatch(question.request));
    }
    const RoutePolicy& policy = routes[told.route].policy;
    const bool in_memory = question.first.replayable && question.body_bytes <= policy.replay_memory_bytes;
    const Idempotency judged =
        judge(policy.idempotent, question.request, in_memory ? question.body : nullptr);
    ASSERT_EQ(told.judgement.verdict, judged);
    ASSERT_EQ(told.facts.idempotent, judged == Idempotency::yes ? Idempotency::yes : Idempotency::no);
  }
}

bool is_stale(const LedgerEntry& entry) { return entry.verdict.reason == Reason::stale_connection; }

/// Returns true if the wait after the attempt `before` is within the planned bounds, and so is the time
/// `started` at which the next attempt starts.
bool is_inside(const PlannedWait& told, const LedgerEntry& before, Instant started) {
  const Duration start = started - play::epoch;
  return told.after == before.attempt.number && told.lowest <= before.verdict.delay &&
         before.verdict.delay <= told.highest && told.earliest <= start && start <= told.latest;
}

TEST(Explanation, simulated_runs_stay_within_the_explained_bounds) {
  Draw draw(20260103);
  SeededDice rolls(5);
  std::size_t waits = 0;
  for (int i = 0; i < 10'000; ++i) {
    const RouteTable routes = draw.routes();
    Question question = draw.question();
    question.first = Attempt{1, 1, question.first.reused, question.first.sent, true, false, {}};
    question.facts.signed_until.reset();
    const Explanation told = explain(routes, question);
    const auto* failed = std::get_if<Failed>(&told.outcome);
    const bool lasts = failed != nullptr &&
                       (failed->cause == Cause::attempt_timeout || failed->cause == Cause::response_timeout);
    if (breaks(question) || lasts || told.waits_left_out) continue;
    play::Step step;
    step.outcome = told.outcome;
    step.sent = question.first.sent;
    step.on_reused = question.first.reused;
    step.held = told.held;
    const play::Scene scene{routes[told.route].policy, told.facts};
    const Ledger ledger = play::run(scene, {step}, rolls).ledger;
    ASSERT_FALSE(ledger.empty());
    const bool by_budget = told.lowest.last_verdict.reason == Reason::budget_spent ||
                           told.highest.last_verdict.reason == Reason::budget_spent;
    for (std::size_t n = 0; n + 1 < ledger.size(); ++n) {
      // If the budget ends the retries, a run with random waits may have one retry more than the explanation
      // planned.
      if (by_budget && n >= told.waits.size()) break;
      ASSERT_LT(n, told.waits.size());
      ASSERT_TRUE(is_inside(told.waits[n], ledger[n], ledger[n + 1].started)) << i << " wait " << n;
      waits += is_stale(ledger[n]) ? 0 : 1;
    }
    if (told.lowest.last_verdict.reason == told.highest.last_verdict.reason && !by_budget) {
      ASSERT_EQ(ledger.reason, told.lowest.last_verdict.reason) << i;
    }
  }
  EXPECT_GT(waits, 2'000U);
}

TEST(Explanation, each_wait_is_listed_with_its_bounds) {
  const Explanation told = explain(only({}), question_about("GET"));
  ASSERT_EQ(told.waits.size(), 5U);
  EXPECT_EQ(told.waits[0].highest, 250ms);
  EXPECT_EQ(told.waits[1].highest, 500ms);
  EXPECT_EQ(told.waits[2].highest, 1s);
  EXPECT_EQ(told.waits[2].lowest, 500ms);
  EXPECT_EQ(told.waits[2].earliest, 875ms);
  EXPECT_EQ(told.waits[2].latest, 1750ms);
  EXPECT_EQ(told.waits[2].after, 3U);
  EXPECT_EQ(told.highest.last.number, 6U);
  EXPECT_EQ(told.highest.last_verdict.reason, Reason::attempts_spent);
}

TEST(Explanation, deadline_limits_the_wait_bounds) {
  RoutePolicy policy;
  policy.retry.max_attempts.reset();
  policy.retry.deadline = 10s;
  policy.retry.backoff = {1s, 2, 64s, Jitter::equal};
  const Explanation told = explain(only(policy), question_about("GET"));
  ASSERT_EQ(told.waits.size(), 4U) << "0.5 + 1 + 2 + 4 s fit, 8 s more do not";
  EXPECT_EQ(told.waits[2].highest, 4s);
  EXPECT_EQ(told.waits[3].lowest, 4s);
  EXPECT_EQ(told.waits[3].highest, 6500ms) << "not 8 s: attempt 4 starts after 3.5 s at least";
  EXPECT_EQ(told.waits[3].latest, 10s);
  EXPECT_EQ(told.lowest.last_verdict.reason, Reason::deadline_too_near);
  EXPECT_EQ(told.lowest.last.number, 5U);
  EXPECT_EQ(told.highest.last.number, 4U);
  EXPECT_EQ(told.highest.last_ended, 7s);
}

TEST(Explanation, number_of_listed_waits_is_limited) {
  RoutePolicy policy;
  policy.retry.max_attempts.reset();
  policy.retry.backoff.jitter = Jitter::full;
  policy.budget.reset();
  const Explanation told = explain(only(policy), question_about("GET"));
  EXPECT_EQ(told.waits.size(), most_waits);
  EXPECT_TRUE(told.waits_left_out);
  EXPECT_TRUE(told.lowest.endless) << "waits of 0 s never meet the deadline";
  EXPECT_FALSE(told.highest.endless);
}

TEST(Explanation, explanation_can_start_at_a_later_attempt) {
  Question question = question_about("GET");
  question.first.number = question.first.charged = 3;
  const Explanation told = explain(only({}), question);
  ASSERT_EQ(told.waits.size(), 3U);
  EXPECT_EQ(told.waits[0].after, 3U);
  EXPECT_EQ(told.waits[0].highest, 1s);
  EXPECT_EQ(told.waits[0].latest, 1750ms) << "the waits before it count";
}

TEST(Explanation, explained_timeout_names_the_timer_that_the_route_configures) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::await_head, Cause::attempt_timeout};
  Explanation told = explain(only({}), question);
  EXPECT_EQ(std::get<Failed>(told.outcome).cause, Cause::response_timeout);
  RoutePolicy policy;
  policy.retry.attempt_timeout = 2s;
  told = explain(only(policy), question);
  EXPECT_EQ(std::get<Failed>(told.outcome).cause, Cause::attempt_timeout);
  EXPECT_EQ(told.lowest.first_ended, 2s);
  EXPECT_EQ(told.waits.size(), 5U);
}

TEST(Explanation, truncated_response_is_not_retried_because_the_client_has_its_beginning) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::body, Cause::truncated};
  EXPECT_EQ(explain(only({}), question).lowest.last_verdict.reason, Reason::response_started);
}

TEST(Explanation, truncated_response_is_resumed_if_route_and_request_allow) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::body, Cause::truncated};
  const Explanation told = explain(only({}), question);
  EXPECT_TRUE(told.resumes);
  EXPECT_EQ(told.resume_wait.highest, 250ms);
  const auto resumes = [&](auto change) {
    RoutePolicy policy;
    Question changed = question;
    change(policy, changed);
    return explain(only(policy), changed).resumes;
  };
  EXPECT_TRUE(resumes([](auto&, auto&) {}));
  EXPECT_FALSE(resumes([](auto& p, auto&) { p.resume.enabled = false; }));
  EXPECT_FALSE(resumes([](auto& p, auto&) { p.mode = Mode::observe; }));
  EXPECT_FALSE(resumes([](auto& p, auto&) { p.idempotent.kind = IdempotencyRule::Kind::never; }));
  EXPECT_FALSE(resumes([](auto&, auto& q) { q.download.has_body = true; }));
  EXPECT_FALSE(resumes([](auto&, auto& q) { q.download.get = false; }));
  EXPECT_FALSE(resumes([](auto&, auto& q) { q.outcome = Responded{200, {}}; }));
  EXPECT_FALSE(resumes([](auto&, auto& q) { q.tunnel = true; })) << "its bytes belong to no response";
  EXPECT_FALSE(resumes([](auto& p, auto& q) {
    p.retry.nested = Nested::refuse;
    q.facts.nested = true;
  }));
  EXPECT_FALSE(resumes([](auto&, auto& q) { q.download.conditional = true; }));
  EXPECT_TRUE(resumes([](auto&, auto& q) { q.download.range = "bytes=5-"; }));
  EXPECT_FALSE(resumes([](auto&, auto& q) { q.download.range = "bytes=0-1,5-6"; })) << "two ranges";
  EXPECT_FALSE(resumes([](auto& p, auto&) { p.budget = BudgetPolicy{0, 0, 1s}; })) << "nothing to pay with";
  EXPECT_FALSE(resumes([](auto&, auto& q) { q.signature_end = Instant{} - 1s; })) << "its signature is over";
}

TEST(Explanation, reason_is_named_if_a_truncated_response_is_not_resumed) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::body, Cause::truncated};
  EXPECT_EQ(explain(only({}), question).not_resumed, Reason::response_started);
  RoutePolicy poor;
  poor.budget = BudgetPolicy{0, 0, 1s};
  EXPECT_EQ(explain(only(poor), question).not_resumed, Reason::budget_spent);
  question.signature_end = Instant{} - 1s;
  const Explanation told = explain(only({}), question);
  EXPECT_EQ(told.not_resumed, Reason::signature_expired);
  EXPECT_EQ(told.lowest.last_verdict.reason, Reason::response_started);
  EXPECT_TRUE(std::holds_alternative<Cut>(told.lowest.end));
}

TEST(Explanation, last_response_is_delivered_and_cut_if_it_is_truncated) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::body, Cause::truncated};
  RoutePolicy policy;
  policy.retry.on.statuses.set(200);
  const Explanation told = explain(only(policy), question);
  EXPECT_EQ(told.lowest.last_verdict.reason, Reason::response_started);
  EXPECT_TRUE(std::holds_alternative<Cut>(told.lowest.end));
}

// When a hedge is charged to the budget, the first attempt has not yet added its share to the budget.
TEST(Explanation, hedge_is_decided_when_it_is_due) {
  Question question = question_about("GET");
  RoutePolicy policy;
  EXPECT_EQ(explain(only(policy), question).hedge, std::nullopt);
  policy.hedge.emplace();
  EXPECT_EQ(explain(only(policy), question).hedge, Reason::hedged);
  policy.budget = BudgetPolicy{1, 0, 10s};
  EXPECT_EQ(explain(only(policy), question).hedge, Reason::budget_spent);
  policy.budget.reset();
  policy.hedge->after = 2min;
  EXPECT_EQ(explain(only(policy), question).hedge, Reason::deadline_too_near);
  policy.hedge->after.reset();
  policy.mode = Mode::observe;
  EXPECT_EQ(explain(only(policy), question).hedge, Reason::observe_only);
  policy.mode = Mode::off;
  EXPECT_EQ(explain(only(policy), question).hedge, std::nullopt);
  policy.mode = Mode::active;
  question.first.number = question.first.charged = 2;
  EXPECT_EQ(explain(only(policy), question).hedge, std::nullopt) << "only the first attempt gets one";
}

// A second copy of a CONNECT or an upgrade request would open a second tunnel or switch protocols twice.
TEST(Explanation, tunnels_upgrades_and_bound_connections_are_never_hedged) {
  RoutePolicy policy;
  policy.hedge.emplace();
  Question question = question_about("GET");
  ASSERT_EQ(explain(only(policy), question).hedge, Reason::hedged);
  question.facts.copyable = false;
  EXPECT_EQ(explain(only(policy), question).hedge, std::nullopt);
  question.facts.copyable = true;
  question.bound = true;
  EXPECT_EQ(explain(only(policy), question).hedge, std::nullopt);
  question.bound = false;
  question.tunnel = true;
  EXPECT_EQ(explain(only(policy), question).hedge, std::nullopt);
}

TEST(Explanation, request_on_an_authenticated_connection_is_not_retried) {
  Question question = question_about("GET");
  question.bound = true;
  const Explanation told = explain(only({}), question);
  EXPECT_EQ(told.lowest.first_verdict.reason, Reason::not_replayable);
  EXPECT_NE(advice(Reason::not_replayable, told, {}).find("end with it"), std::string::npos);
  question.outcome = Failed{Stage::connect, Cause::refused};
  question.first.sent = Sent::nothing;
  EXPECT_TRUE(explain(only({}), question).lowest.first_verdict.retry) << "it was not sent";
  question.outcome = Failed{Stage::body, Cause::truncated};
  question.first.sent = Sent::maybe;
  EXPECT_FALSE(explain(only({}), question).resumes);
}

TEST(Explanation, route_with_mode_off_has_no_budget) {
  RoutePolicy policy;
  policy.budget.emplace();
  EXPECT_LT(explain(only(policy), question_about("GET")).lowest.first_budget_left, 1000);
  policy.mode = Mode::off;
  EXPECT_GT(explain(only(policy), question_about("GET")).lowest.first_budget_left, 1e9);
}

TEST(Explanation, held_truncated_response_counts_as_a_failure) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::body, Cause::truncated};
  RoutePolicy policy;
  policy.hold.emplace();
  EXPECT_EQ(explain(only(policy), question).lowest.last_verdict.reason, Reason::response_started)
      << "no bytes are held back";
  policy.hold->bytes = 1;
  EXPECT_EQ(explain(only(policy), question).lowest.last_verdict.reason, Reason::not_retryable);
  policy.retry.on.truncated = true;
  const Explanation told = explain(only(policy), question);
  EXPECT_EQ(told.lowest.first_verdict.reason, Reason::retryable_failure);
  EXPECT_EQ(told.lowest.last_verdict.reason, Reason::attempts_spent);
  policy.mode = Mode::off;
  EXPECT_EQ(explain(only(policy), question).lowest.last_verdict.reason, Reason::response_started);
}

// A held response is delivered and then resumed if the request is not retried and the client gets no 504.
TEST(Explanation, held_truncated_response_is_resumed_only_if_it_is_delivered) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::body, Cause::truncated};
  RoutePolicy policy;
  policy.hold.emplace();
  policy.hold->bytes = 1;
  EXPECT_TRUE(explain(only(policy), question).resumes) << "not listed: not repeated";
  policy.retry.on.truncated = true;
  EXPECT_TRUE(explain(only(policy), question).resumes) << "after the last attempt";
  policy.retry.backoff = {1s, 1, 1s, Jitter::none};
  policy.retry.deadline = 0s;
  EXPECT_EQ(explain(only(policy), question).lowest.last_verdict.reason, Reason::deadline_too_near);
  EXPECT_TRUE(explain(only(policy), question).resumes);
  policy.retry.out_of_time = OutOfTime::gateway_timeout;
  EXPECT_FALSE(explain(only(policy), question).resumes) << "the client gets the 504 instead";
  policy.retry.deadline.reset();
  EXPECT_TRUE(explain(only(policy), question).resumes) << "the attempts are spent, and no time is over";
  policy.retry.max_attempts.reset();
  policy.budget.reset();
  EXPECT_TRUE(explain(only(policy), question).lowest.endless);
  EXPECT_FALSE(explain(only(policy), question).resumes) << "it is repeated for ever";
}

TEST(Explanation, retryable_status_is_retried_before_its_body_can_be_truncated) {
  Question question = question_about("GET");
  question.outcome = Failed{Stage::body, Cause::truncated};
  RoutePolicy policy;
  policy.retry.on.statuses.set(200);
  const Explanation told = explain(only(policy), question);
  EXPECT_EQ(told.lowest.first_verdict.reason, Reason::retryable_status);
  EXPECT_EQ(told.lowest.last.number, 6U);
  EXPECT_TRUE(told.resumes) << "the last one is delivered";
  policy.retry.deadline = 0s;
  policy.retry.backoff = {1s, 1, 1s, Jitter::none};
  policy.retry.out_of_time = OutOfTime::gateway_timeout;
  EXPECT_FALSE(explain(only(policy), question).resumes) << "the client gets the 504 instead";
  policy.retry.deadline.reset();
  policy.retry.max_attempts.reset();
  policy.budget.reset();
  EXPECT_FALSE(explain(only(policy), question).resumes) << "it is repeated for ever";
}

TEST(Explanation, connect_request_counts_as_idempotent_because_dialling_again_is_safe) {
  Question question;
  question.request = {"CONNECT", "api.internal", 443, "/", "", nullptr};
  question.tunnel = true;
  question.outcome = Failed{Stage::connect, Cause::refused};
  const Explanation told = explain(only({}), question);
  EXPECT_EQ(told.facts.idempotent, Idempotency::yes);
  EXPECT_EQ(told.waits.size(), 5U);
}

TEST(Explanation, body_over_the_replay_limit_is_not_replayable_once_sent) {
  RoutePolicy policy;
  policy.idempotent.kind = IdempotencyRule::Kind::always;
  Question question = question_about("GET");
  question.body_bytes = policy.replay_disk_bytes;
  EXPECT_EQ(explain(only(policy), question).lowest.last_verdict.reason, Reason::attempts_spent);
  question.facts.no_store = true;
  EXPECT_EQ(explain(only(policy), question).lowest.last_verdict.reason, Reason::not_replayable);
  question.facts.no_store = false;
  question.body_bytes = policy.replay_disk_bytes + 1;
  EXPECT_EQ(explain(only(policy), question).lowest.last_verdict.reason, Reason::not_replayable);
  question.outcome = Failed{Stage::connect, Cause::refused};
  question.first.sent = Sent::nothing;
  EXPECT_EQ(explain(only(policy), question).waits.size(), 5U);
}

TEST(Explanation, D5_body_over_the_total_replay_limit_is_not_replayable) {
  RoutePolicy policy;
  policy.idempotent.kind = IdempotencyRule::Kind::always;
  Question question = question_about("GET");
  const auto reason_of = [&](std::uint64_t bytes) {
    question.body_bytes = bytes;
    return explain(only(policy), question).lowest.last_verdict.reason;
  };
  question.total_memory = 1000;
  EXPECT_EQ(reason_of(1000), Reason::attempts_spent);
  EXPECT_EQ(reason_of(1001), Reason::not_replayable) << "it is for memory, and never goes to disk";
  question.total_disk = policy.replay_memory_bytes + 1;
  EXPECT_EQ(reason_of(policy.replay_memory_bytes + 1), Reason::attempts_spent);
  EXPECT_EQ(reason_of(policy.replay_memory_bytes + 2), Reason::not_replayable);
}

// Explains a request on a route whose budget has ratio 1 and no floor: one retry for each first attempt.
Explanation explained_with_a_tight_budget(const Outcome& outcome) {
  RoutePolicy policy;
  policy.budget = BudgetPolicy{1, 0, 1h};
  policy.retry.max_attempts = 9;
  Question question;
  question.request = {"GET", "api.internal", 80, "/", "", nullptr};
  question.outcome = outcome;
  question.first.sent = is_unsent(outcome, false) ? Sent::nothing : Sent::maybe;
  return explain(RouteTable({}, route_of("default", {}, policy)), question);
}

TEST(Explanation, L20_explained_budget_includes_first_attempts_and_refunds) {
  EXPECT_EQ(explained_with_a_tight_budget(Responded{503, {}}).lowest.last.number, 2U);
  EXPECT_EQ(explained_with_a_tight_budget(Failed{Stage::connect, Cause::refused}).lowest.last.number, 9U)
      << "a retry that was refused burdened nobody";
  const Explanation ours = explained_with_a_tight_budget(Failed{Stage::connect, Cause::no_descriptor});
  EXPECT_EQ(ours.lowest.last_verdict.reason, Reason::budget_spent);
  EXPECT_EQ(ours.lowest.first_budget_left, 0) << "nothing was sent that could feed it";
}

TEST(Explanation, L20_idempotency_is_judged_by_the_fields_sent_upstream) {
  RoutePolicy policy;
  policy.idempotent = {IdempotencyRule::Kind::any, {{Condition::Kind::header, "X-Token", ""}}};
  const RouteTable routes({}, route_of("default", {}, policy));
  const Lines came{{{"x-token", "7"}}};
  const Lines leaves{{}};
  Question question;
  question.request = {"POST", "api.internal", 80, "/", "", &came};
  question.first.sent = Sent::maybe;
  EXPECT_EQ(explain(routes, question).lowest.first_verdict.reason, Reason::retryable_status);
  question.leaving = &leaves;
  EXPECT_EQ(explain(routes, question).lowest.first_verdict.reason, Reason::not_idempotent);
}

}  // namespace
}  // namespace reprise::tools::explanation_test
