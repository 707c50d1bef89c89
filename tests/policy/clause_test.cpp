// Tests the clauses of docs/requirements/retry.md that the policy alone can prove, each by its number. Clause
// R21 is tested with the configuration; the presets of Cloud Storage have tests next to their file.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "proxy/policy/decision/route.hpp"
#include "tests/policy/request_lines.hpp"
#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

using policy::Backoff;
using policy::Condition;
using policy::Jitter;
using policy::Reason;

policy::RetryOn documented() {
  policy::RetryOn on = policy::RetryOn::defaults();
  on.statuses.reset();
  on.statuses.set(429);
  for (std::size_t status = 500; status < 600; ++status) on.statuses.set(status);
  return on;
}

/// Returns the scene with the route that the sources of docs/requirements/retry.md recommend: 5xx and 429,
/// exponential backoff from one second, no budget.
Scene documented(Scene scene) {
  return scene.no_budget().deadline(600s).with([](auto& p, auto&) {
    p.retry.on = documented();
    p.retry.max_attempts.reset();
    p.retry.backoff = {1s, 2, 64s, Jitter::additive};
  });
}

std::string told(const Scene& scene, const Script& script) { return play(scene, script); }

// Returns the number of attempts that a script takes. A broken invariant fails the test.
std::size_t attempts(const Scene& scene, const Script& script) {
  const Played played = run(scene, script);
  EXPECT_EQ(first_broken_law(scene, script, played), "") << transcript(played, script);
  return played.ledger.size();
}

std::vector<Step> transport_errors() {
  return {fails(Stage::resolve, Cause::dns_error),
          fails(Stage::resolve, Cause::dns_timeout),
          fails(Stage::connect, Cause::refused),
          fails(Stage::connect, Cause::unreachable),
          fails(Stage::connect, Cause::connect_timeout),
          fails(Stage::tls, Cause::closed),
          fails(Stage::tls, Cause::reset),
          fails(Stage::send, Cause::reset),
          fails(Stage::await_head, Cause::closed),
          fails(Stage::await_head, Cause::reset),
          fails(Stage::await_head, Cause::keepalive_lost),
          fails(Stage::await_head, Cause::attempt_timeout),
          fails(Stage::head, Cause::closed),
          fails(Stage::head, Cause::reset)};
}

TEST(Clause, R1_too_many_requests_is_retried) {
  EXPECT_EQ(told(documented(get()), {status(429), status(200)}),
            "attempt 1 -> 429 | sleep 2000ms\n"
            "attempt 2 -> 200 | deliver (success)\n");
}

TEST(Clause, R2_every_server_error_is_retried) {
  for (int code = 500; code < 600; ++code) {
    for (const Scene& scene : {get(), put(), post().idempotent(Idempotency::yes)}) {
      EXPECT_EQ(attempts(documented(scene), {status(code), status(200)}), 2U) << code;
    }
  }
}

TEST(Clause, R3_status_408_is_retried_only_if_retry_on_lists_it) {
  EXPECT_EQ(attempts(documented(get()), {status(408), status(200)}), 1U);
  const Scene resumable = documented(put()).with([](auto& p, auto&) { p.retry.on.statuses.set(408); });
  EXPECT_EQ(attempts(resumable, {status(408), status(200)}), 2U);
}

TEST(Clause, R4_no_status_below_500_except_429_is_retried) {
  for (int code = 200; code < 500; ++code) {
    if (code == 429) continue;
    const Script script{status(code), status(200)};
    const Played played = run(documented(put()), script);
    ASSERT_EQ(played.ledger.size(), 1U) << code;
    EXPECT_EQ(played.ledger.reason, code < 400 ? Reason::success : Reason::not_retryable) << code;
    EXPECT_FALSE(played.ledger.ambiguous) << code;
  }
}

TEST(Clause, R5_resume_incomplete_308_is_delivered) {
  EXPECT_EQ(told(documented(put()), {status(308)}), "attempt 1 -> 308 | deliver (success)\n");
  EXPECT_EQ(told(documented(put()), {status(503), status(308)}),
            "attempt 1 -> 503 | sleep 2000ms\n"
            "attempt 2 -> 308 | deliver (success)\n");
}

TEST(Clause, R6_response_that_is_not_retryable_ends_the_retries) {
  EXPECT_EQ(told(documented(get()), {status(503), status(400)}),
            "attempt 1 -> 503 | sleep 2000ms\n"
            "attempt 2 -> 400 | deliver (not_retryable)\n");
}

TEST(Clause, R7_timeouts_are_retried) {
  EXPECT_EQ(attempts(documented(get()), {fails(Stage::connect, Cause::connect_timeout), status(200)}), 2U);
  EXPECT_EQ(attempts(documented(get()), {timed_out, status(200)}), 2U);
}

TEST(Clause, R8_connections_closed_by_the_upstream_are_retried) {
  for (const Step& step : {refused, reset, closed, fails(Stage::head, Cause::closed)}) {
    EXPECT_EQ(attempts(documented(get()), {step, status(200)}), 2U) << text(step.outcome);
  }
}

TEST(Clause, R9_every_connection_error_is_retried) {
  for (const Step& step : transport_errors()) {
    EXPECT_EQ(attempts(documented(get()), {step, step, status(200)}), 3U) << text(step.outcome);
  }
}

TEST(Clause, R10_truncated_held_body_is_retried_only_if_truncation_is_listed) {
  const Script cut_short{fails(Stage::body, Cause::truncated), status(200)};
  EXPECT_EQ(attempts(documented(get()), cut_short), 1U);
  const Scene media = documented(get()).with([](auto& p, auto&) { p.retry.on.truncated = true; });
  EXPECT_EQ(attempts(media, cut_short), 2U);
  EXPECT_EQ(told(media, {status(200).body_breaks()}),
            "attempt 1 -> 200 | deliver (success)\n"
            "the body breaks | cut (response_started)\n");
}

TEST(Clause, R11_transport_errors_of_non_idempotent_requests_are_retried_only_if_unsent) {
  for (const Step& step : transport_errors()) {
    const bool sent = std::get<policy::Failed>(step.outcome).stage >= Stage::send;
    const Played played = run(documented(post()), {step, status(200)});
    EXPECT_EQ(played.ledger.size(), sent ? 1U : 2U) << text(step.outcome);
    EXPECT_EQ(played.ledger[0].verdict.reason, sent ? Reason::not_idempotent : Reason::retryable_failure);
  }
}

/// Seeded dice that count their rolls.
struct CountedDice final : policy::Dice {
  explicit CountedDice(std::uint64_t seed) : seeded(seed) {}
  std::uint64_t roll(std::uint64_t highest) override {
    tops.push_back(highest);
    return seeded.roll(highest);
  }
  policy::SeededDice seeded;
  std::vector<std::uint64_t> tops;
};

TEST(Clause, R13_random_part_of_a_wait_is_0_to_1000_whole_milliseconds) {
  const Backoff backoff{1s, 2, 64s, Jitter::additive};
  CountedDice dice(13);
  for (unsigned n = 0; n < 6; ++n) {
    std::set<Duration> extras;
    for (int i = 0; i < 20'000; ++i) extras.insert(draw_wait(backoff, n, {}, dice) - 1s * (1U << n));
    EXPECT_EQ(extras.size(), 1001U) << n;
    EXPECT_EQ(*extras.begin(), 0ms);
    EXPECT_EQ(*extras.rbegin(), 1000ms);
    for (const Duration extra : extras) EXPECT_EQ(extra % 1ms, 0ns);
  }
  for (const std::uint64_t top : dice.tops) ASSERT_EQ(top, 1000U);
}

TEST(Clause, R14_random_part_is_drawn_again_for_every_retry) {
  const Script script{status(503)};
  const Scene scene = documented(get()).no_deadline().attempts(1001);
  CountedDice dice(14);
  const Played played = run(scene, script, dice);
  EXPECT_EQ(dice.tops.size(), 1000U);
  std::set<Duration> first_waits;
  for (int i = 0; i < 1000; ++i) {
    const Duration wait = draw_wait(scene.policy.retry.backoff, 0, {}, dice);
    EXPECT_TRUE(wait >= 1s && wait <= 2s);
    first_waits.insert(wait);
  }
  EXPECT_GT(first_waits.size(), 500U);
}

TEST(Clause, R17_wait_stays_at_the_maximum_once_it_is_reached) {
  const Script script{status(503)};
  for (const auto cap : {32s, 64s}) {
    const Scene scene = documented(get()).no_deadline().attempts(40).with(
        [&](auto& p, auto&) { p.retry.backoff.maximum = cap; });
    const Played played = run(scene, script);
    ASSERT_EQ(played.ledger.size(), 40U);
    for (std::size_t i = 6; i + 1 < played.ledger.size(); ++i)
      EXPECT_EQ(played.ledger[i].verdict.delay, cap) << i;
  }
}

TEST(Clause, R22_wait_that_would_cross_the_deadline_ends_the_retries_at_once) {
  const Script script{status(503).takes(100ms)};
  const Scene scene = documented(get()).deadline(10s).rolling(LoadedDice::lowest());
  const Played played = run(scene, script);
  ASSERT_EQ(played.ledger.size(), 4U);  // attempts start at 0, 1.1, 3.2, 7.3 s
  EXPECT_EQ(played.ledger.reason, Reason::deadline_too_near);
  EXPECT_EQ(played.events.back().at, epoch + 7400ms) << "reports now rather than sleep";
}

policy::Route route(std::string name, std::string_view path, const policy::RetryPolicy& retry) {
  policy::Route route{std::move(name), {}, {}, 1};
  route.match.path = *policy::PathPattern::parse(path);
  route.policy = get().no_budget().policy;
  route.policy.retry = retry;
  return route;
}

TEST(Clause, R23_retry_limits_are_set_per_route) {
  policy::RetryPolicy patient;
  patient.max_attempts = 8;
  patient.deadline = 600s;
  patient.backoff = {4s, 2, 64s, Jitter::none};
  policy::RetryPolicy quick;
  quick.max_attempts = 2;
  quick.backoff = {1s, 2, 64s, Jitter::none};
  const policy::RouteTable routes({route("mobile", "/mobile/**", patient)}, route("rest", "/**", quick));
  const auto starts_for = [&](std::string_view path) {
    const policy::RequestView request{"GET", "example.com", 80, path, "", nullptr};
    Scene scene = get();
    scene.policy = routes[routes.find(request)].policy;
    return starts(run(scene, {status(503)}));
  };
  EXPECT_EQ(starts_for("/mobile/a"), (std::vector<double>{0, 4, 12, 28, 60, 124, 188, 252}));
  EXPECT_EQ(starts_for("/desk/a"), (std::vector<double>{0, 1}));
}

struct Exhausted {
  Scene scene;
  Script script;
  Reason limit;
  std::size_t attempts;
  Duration elapsed;
  unsigned delivered;  ///< attempt whose response the client gets; 0: a response of the proxy itself
};

TEST(Clause, R24_ledger_contains_everything_the_error_record_needs) {
  const Scene scene = documented(get()).with([](auto& p, auto&) { p.retry.backoff.jitter = Jitter::none; });
  const std::vector<Exhausted> cases{
      {scene.attempts(3), {status(503).takes(1s)}, Reason::attempts_spent, 3, 6s, 3},
      {scene.deadline(5s), {status(500), status(503)}, Reason::deadline_too_near, 3, 3s, 3},
      {scene.budget(1), {status(502)}, Reason::budget_spent, 2, 1s, 2},
      {scene.attempts(3), {status(503), refused}, Reason::attempts_spent, 3, 3s, 1},
      {scene.attempts(2), {refused, timed_out}, Reason::attempts_spent, 2, 1s, 0},
  };
  for (const Exhausted& one : cases) {
    const Played played = run(one.scene, one.script);
    EXPECT_EQ(first_broken_law(one.scene, one.script, played), "");
    ASSERT_EQ(played.ledger.size(), one.attempts);
    EXPECT_EQ(played.ledger.reason, one.limit) << "which limit ended it";
    EXPECT_EQ(played.ledger.back().ended - played.ledger[0].started, one.elapsed);
    const Step& last = one.script[std::min(one.attempts, one.script.size()) - 1];
    EXPECT_EQ(text(played.ledger.back().outcome), text(last.outcome));
    const auto& end = played.events[played.events.size() - (one.delivered == 0 ? 1 : 2)].actions[0];
    if (one.delivered == 0) {
      EXPECT_FALSE(std::get<policy::Fail>(end).gateway_timeout);
    } else {
      EXPECT_EQ(std::get<policy::Deliver>(end).number, one.delivered);
    }
  }
}

TEST(Clause, R31_retry_needs_a_listed_outcome_and_an_idempotent_request) {
  for (const bool listed : {true, false}) {
    for (const auto judged : {Idempotency::yes, Idempotency::no, Idempotency::undecided}) {
      const Script script{status(listed ? 503 : 403), status(200)};
      const bool both = listed && judged == Idempotency::yes;
      EXPECT_EQ(attempts(documented(put()).idempotent(judged), script), both ? 2U : 1U);
    }
  }
}

struct Keys final : policy::JsonBody {
  explicit Keys(std::set<std::string, std::less<>> there) : keys(std::move(there)) {}
  bool has(std::string_view key) const override { return keys.contains(key); }
  std::set<std::string, std::less<>> keys;
};

// Returns the rule's verdict on a PATCH. Expects that a second attempt is made only if the verdict is `yes`.
Idempotency verdict(const policy::IdempotencyRule& rule, std::string_view query,
                    const policy::FieldLines* lines = nullptr, const policy::JsonBody* body = nullptr) {
  const policy::RequestView request{"PATCH", "storage.googleapis.com", 443, "/storage/v1/b/b", query, lines};
  const Idempotency judged = policy::judge(rule, request, body);
  const std::size_t tries = attempts(documented(post()).idempotent(judged), {status(503), status(200)});
  EXPECT_EQ(tries, judged == Idempotency::yes ? 2U : 1U);
  return judged;
}

policy::Lines one_line(std::string name, std::string value) {
  std::vector<std::pair<std::string, std::string>> fields;
  fields.emplace_back(std::move(name), std::move(value));
  return policy::Lines(std::move(fields));
}

policy::IdempotencyRule any(std::vector<Condition> conditions) {
  return {policy::IdempotencyRule::Kind::any, std::move(conditions)};
}

TEST(Clause, R35_empty_value_does_not_make_a_request_conditional) {
  const auto by_query = any({{Condition::Kind::query, "ifGenerationMatch", ""}});
  EXPECT_EQ(verdict(by_query, "ifGenerationMatch=7"), Idempotency::yes);
  EXPECT_EQ(verdict(by_query, "ifGenerationMatch=0"), Idempotency::yes);
  for (const auto* query : {"", "ifGenerationMatch", "ifGenerationMatch=", "a=1&ifGenerationMatch=&b=2"})
    EXPECT_EQ(verdict(by_query, query), Idempotency::no) << query;
  const auto by_header = any({{Condition::Kind::header, "If-Match", ""}});
  EXPECT_EQ(verdict(by_header, "", nullptr), Idempotency::no);
  for (const auto* value : {"", "  ", "\t"}) {
    const policy::Lines lines = one_line("If-Match", value);
    EXPECT_EQ(verdict(by_header, "", &lines), Idempotency::no);
  }
  const policy::Lines lines = one_line("if-match", " \"e\"");
  EXPECT_EQ(verdict(by_header, "", &lines), Idempotency::yes);
}

// `nullptr` as the last argument stands for a body that is not completely held. The test of the JSON reader
// covers how the keys of a body are found.
TEST(Clause, R36_only_keys_of_a_completely_held_json_body_count) {
  const auto rule = any({{Condition::Kind::json, "etag", ""}});
  EXPECT_EQ(verdict(rule, "", nullptr, nullptr), Idempotency::undecided);
  const Keys with_etag({"etag", "name"});
  EXPECT_EQ(verdict(rule, "", nullptr, &with_etag), Idempotency::yes);
  const Keys without({"name", "Etag", "etags"});
  EXPECT_EQ(verdict(rule, "etag=1", nullptr, &without), Idempotency::no) << "a query is no body";
  const policy::Lines lines = one_line("etag", "1");
  EXPECT_EQ(verdict(rule, "", &lines, &without), Idempotency::no) << "a header is no body";
}

TEST(Clause, R41_operator_can_declare_requests_idempotent_always_or_never) {
  using Kind = policy::IdempotencyRule::Kind;
  const std::vector<Condition> condition{{Condition::Kind::query, "ifGenerationMatch", ""}};
  for (const auto* query : {"", "ifGenerationMatch=1"}) {
    EXPECT_EQ(verdict({Kind::always, condition}, query), Idempotency::yes);
    EXPECT_EQ(verdict({Kind::never, condition}, query), Idempotency::no);
  }
  EXPECT_EQ(verdict({Kind::any, condition}, ""), Idempotency::no);
  EXPECT_EQ(verdict({Kind::any, condition}, "ifGenerationMatch=1"), Idempotency::yes);
}

}  // namespace
}  // namespace reprise::play
