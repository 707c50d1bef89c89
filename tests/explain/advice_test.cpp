// Tests advice: every reason has a sentence, and following the advice changes the verdict.
#include "proxy/tools/explain/advice.hpp"

#include <gtest/gtest.h>

#include "tests/explain/one_route.hpp"
#include "tests/policy/request_lines.hpp"

namespace reprise::tools {
namespace {

using namespace policy;
using namespace std::chrono_literals;

Question ask(std::string_view method, const Outcome& outcome) {
  Question question = question_about(method);
  question.outcome = outcome;
  return question;
}

Responded later(Duration pause) {
  Responded response{503, {}};
  response.hints.retry_after = pause;
  return response;
}

Reason end_of(const Question& question, const RoutePolicy& policy) {
  return explain(only(policy), question).highest.last_verdict.reason;
}

std::string advised(const Question& question, const RoutePolicy& policy) {
  const RouteTable routes = only(policy);
  const Explanation told = explain(routes, question);
  if (told.hangs) return advice_if_hanging(told, policy);
  return advice(told.highest.last_verdict.reason, told, policy);
}

bool says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// advice() accepts any reason, not only the final reason of this request.
TEST(Advice, every_reason_has_advice_for_every_rule_and_outcome) {
  using Kind = IdempotencyRule::Kind;
  for (const Kind kind : {Kind::always, Kind::never, Kind::by_method, Kind::any, Kind::all}) {
    RoutePolicy policy;
    policy.idempotent = {kind, {{Condition::Kind::header, "Idempotency-Key", ""}}};
    for (const Outcome& outcome : {Outcome(Responded{503, {}}), Outcome(Failed{Stage::send, Cause::reset})}) {
      const RouteTable routes = only(policy);
      const Explanation told = explain(routes, ask("POST", outcome));
      for (const Reason reason : all_reasons()) {
        const std::string text = advice(reason, told, policy);
        EXPECT_GT(text.size(), 15U) << word(reason);
        EXPECT_TRUE(text.ends_with('.')) << word(reason);
      }
    }
  }
}

TEST(Advice, each_outcome_is_mapped_to_its_word_of_retry_on_if_there_is_one) {
  EXPECT_EQ(retry_word(Responded{418, {}}), "418");
  EXPECT_EQ(retry_word(Failed{Stage::resolve, Cause::dns_error}), "connect");
  EXPECT_EQ(retry_word(Failed{Stage::tls, Cause::closed}), "tls");
  EXPECT_EQ(retry_word(Failed{Stage::await_head, Cause::closed}), "reset");
  EXPECT_EQ(retry_word(Failed{Stage::await_head, Cause::attempt_timeout}), "timeout");
  EXPECT_EQ(retry_word(Failed{Stage::body, Cause::truncated}), "truncated");
  EXPECT_EQ(retry_word(Failed{Stage::head, Cause::malformed_response}), "");
}

TEST(Advice, advice_names_the_replay_limit_that_the_body_exceeds) {
  RoutePolicy policy;
  Question question = ask("PUT", Responded{503, {}});
  question.body_bytes = policy.replay_disk_bytes + 1;
  EXPECT_TRUE(says(advised(question, policy), "Raise `replay.disk`"));
  question.facts.no_store = true;
  EXPECT_TRUE(says(advised(question, policy), "Raise `replay.memory`"));
  EXPECT_TRUE(says(advised(question, policy), "no-store"));
  question.facts.no_store = false;
  policy.mode = Mode::observe;
  EXPECT_TRUE(says(advised(question, policy), "or `replay.disk` if the route retries"));
}

TEST(Advice, D5_advice_names_the_total_limit_if_the_route_limit_is_large_enough) {
  Question question = ask("PUT", Responded{503, {}});
  question.body_bytes = 2000;
  question.total_memory = 1000;
  EXPECT_TRUE(says(advised(question, {}), "Raise `limits.replay_memory`"));
}

TEST(Advice, following_the_advice_to_list_the_status_changes_the_outcome) {
  const Question question = ask("GET", Responded{501, {}});
  RoutePolicy policy;
  EXPECT_EQ(end_of(question, policy), Reason::not_retryable);
  EXPECT_TRUE(says(advised(question, policy), "List `501` under `retry.on`"));
  EXPECT_FALSE(says(advised(question, policy), "not enough"));
  policy.retry.on.statuses.set(501);
  EXPECT_EQ(end_of(question, policy), Reason::attempts_spent);
}

TEST(Advice, advice_says_if_another_obstacle_would_still_prevent_the_retry) {
  const Question question = ask("POST", Responded{501, {}});
  RoutePolicy policy;
  EXPECT_TRUE(says(advised(question, policy), "not enough"));
  policy.retry.on.statuses.set(501);
  EXPECT_EQ(end_of(question, policy), Reason::not_idempotent);
  EXPECT_TRUE(says(advised(question, policy), "Idempotency-Key"));
  Question refused = ask("POST", Failed{Stage::connect, Cause::refused});
  refused.first.sent = Sent::nothing;
  policy.mode = Mode::off;
  EXPECT_FALSE(says(advised(refused, policy), "not enough")) << "nothing was sent";
  Question broken = ask("POST", Failed{Stage::send, Cause::reset});
  EXPECT_TRUE(says(advised(broken, policy), "not enough"));
  broken.first.sent = Sent::nothing;
  EXPECT_FALSE(says(advised(broken, policy), "not enough")) << "it broke before the first byte was taken";
}

TEST(Advice, advice_names_idempotent_never_if_that_setting_prevents_the_retry) {
  const Question question = ask("GET", Responded{503, {}});
  RoutePolicy policy;
  policy.idempotent.kind = IdempotencyRule::Kind::never;
  EXPECT_EQ(end_of(question, policy), Reason::not_idempotent);
  EXPECT_TRUE(says(advised(question, policy), "`idempotent: never`"));
  policy.idempotent.kind = IdempotencyRule::Kind::always;
  EXPECT_EQ(end_of(question, policy), Reason::attempts_spent);
}

TEST(Advice, advice_says_to_list_a_failure_only_if_retry_on_has_a_word_for_it) {
  const Question refused = ask("GET", Failed{Stage::connect, Cause::refused});
  RoutePolicy policy;
  policy.retry.on.connect = false;
  EXPECT_TRUE(says(advised(refused, policy), "List `connect` under `retry.on`"));
  policy.retry.on.connect = true;
  EXPECT_EQ(end_of(refused, policy), Reason::attempts_spent);
  const Question malformed = ask("GET", Failed{Stage::head, Cause::malformed_response});
  EXPECT_TRUE(says(advised(malformed, policy), "No key changes this"));
  const Question loop = ask("GET", Failed{Stage::connect, Cause::address_is_self});
  EXPECT_TRUE(says(advised(loop, policy), "Send the request to the upstream itself"));
}

TEST(Advice, advice_names_what_a_truncated_download_lacks_for_a_resume) {
  const Outcome truncated = Failed{Stage::body, Cause::truncated};
  RoutePolicy policy;
  EXPECT_TRUE(says(advised(ask("GET", truncated), policy), "strong ETag")) << "the route and the client do";
  EXPECT_TRUE(says(advised(ask("GET", truncated), policy),
                   "x-goog-generation or x-amz-version-id, a Content-Length"));
  policy.resume.validators = {"x-checksum"};
  EXPECT_TRUE(
      says(advised(ask("GET", truncated), policy), "send its response with x-checksum, a Content-Length"));
  EXPECT_TRUE(says(advised(ask("POST", truncated), policy), "No key changes this"))
      << "only a GET is continued";
  RoutePolicy poor;
  poor.budget = BudgetPolicy{0, 0, 1s};
  EXPECT_TRUE(says(advised(ask("GET", truncated), poor), "`budget.floor`")) << "a head would not help";
  Question late = ask("GET", truncated);
  late.signature_end = Instant{} - 1s;
  EXPECT_TRUE(says(advised(late, policy), "Use a signature that is valid for longer"));
  policy.resume.enabled = false;
  EXPECT_TRUE(says(advised(ask("GET", truncated), policy), "`resume: {enabled: true}`"));
  policy.mode = Mode::observe;
  EXPECT_TRUE(says(advised(ask("GET", truncated), policy), "`mode: active`"));
}

TEST(Advice, advice_names_the_key_that_allows_retries_beside_another_retrying_client_or_proxy) {
  Responded retried{503, {}};
  retried.hints.from_reprise = true;
  const Question behind = ask("GET", retried);
  RoutePolicy policy;
  EXPECT_EQ(end_of(behind, policy), Reason::nested_retry);
  EXPECT_TRUE(says(advised(behind, policy), "`inner: allow`"));
  policy.retry.inner = Nested::allow;
  EXPECT_EQ(end_of(behind, policy), Reason::attempts_spent);
  Question before = ask("GET", Responded{503, {}});
  before.facts.nested = true;
  policy.retry.nested = Nested::refuse;
  EXPECT_EQ(end_of(before, policy), Reason::nested_retry);
  EXPECT_TRUE(says(advised(before, policy), "`nested: allow`"));
  before.outcome = retried;
  EXPECT_TRUE(says(advised(before, policy), "`nested: allow`")) << "the client is asked first";
  policy.retry.nested = Nested::allow;
  EXPECT_EQ(end_of(before, policy), Reason::attempts_spent);
}

TEST(Advice, advice_names_the_key_for_the_inner_proxy_if_retrying_clients_are_already_allowed) {
  Responded retried{503, {}};
  retried.hints.from_reprise = true;
  Question question = ask("GET", retried);
  question.facts.nested = true;
  RoutePolicy policy;
  policy.retry.nested = Nested::allow;
  EXPECT_TRUE(says(advised(question, policy), "`inner: allow`"));
  policy.retry.nested = Nested::refuse;
  EXPECT_TRUE(says(advised(question, policy), "`nested: allow`"));
}

TEST(Advice, following_the_advice_to_send_the_missing_header_changes_the_outcome) {
  Question question = ask("POST", Responded{503, {}});
  RoutePolicy policy;
  policy.idempotent = {IdempotencyRule::Kind::any, {{Condition::Kind::header, "Idempotency-Key", ""}}};
  EXPECT_TRUE(says(advised(question, policy), "`header: Idempotency-Key`"));
  const Lines lines{{{"idempotency-key", "7"}}};
  question.request.fields = &lines;
  EXPECT_EQ(end_of(question, policy), Reason::attempts_spent);
  policy.idempotent = {
      IdempotencyRule::Kind::all,
      {{Condition::Kind::header, "Idempotency-Key", ""}, {Condition::Kind::method, "PUT", ""}}};
  EXPECT_TRUE(says(advised(question, policy), "`method: PUT`"));
  policy.idempotent.conditions.clear();
  EXPECT_TRUE(says(advised(question, policy), "`idempotent: {any:"))
      << "a rule of nothing names no condition";
}

TEST(Advice, advice_names_every_alternative_of_a_rule_of_kind_any) {
  RoutePolicy policy;
  policy.idempotent = {
      IdempotencyRule::Kind::any,
      {{Condition::Kind::header, "Idempotency-Key", ""}, {Condition::Kind::query, "requestId", ""}}};
  EXPECT_TRUE(says(
      advised(ask("POST", Responded{503, {}}), policy),
      "Send one of these with a value that is not empty: `header: Idempotency-Key`, `query: requestId`."));
}

TEST(Advice, advice_explains_that_a_content_coded_body_cannot_be_inspected) {
  RoutePolicy policy;
  policy.idempotent = {IdempotencyRule::Kind::any, {{Condition::Kind::json, "etag", ""}}};
  EXPECT_TRUE(says(advised(ask("PATCH", Responded{503, {}}), policy), "without a content coding"));
}

TEST(Advice, advice_names_the_limit_that_the_requested_delay_exceeds) {
  RoutePolicy policy;
  EXPECT_TRUE(says(advised(ask("GET", later(90s)), policy), "retry_after.maximum"));
  policy.retry.deadline = 30s;
  EXPECT_TRUE(says(advised(ask("GET", later(40s)), policy), "Raise `retry.deadline`"));
}

TEST(Advice, advice_for_an_attempt_timeout_names_the_missing_setting) {
  const Question question = ask("GET", Failed{Stage::await_head, Cause::attempt_timeout});
  RoutePolicy policy;
  EXPECT_TRUE(says(advised(question, policy), "Give the route an `attempt_timeout`"));
  policy.retry.attempt_timeout = 2s;
  EXPECT_EQ(end_of(question, policy), Reason::attempts_spent);
  const Question write = ask("POST", question.outcome);
  EXPECT_TRUE(says(advised(write, policy), "Give the route a `response_timeout`"));
  policy.response_timeout = 3s;
  EXPECT_EQ(end_of(write, policy), Reason::not_idempotent);
  policy.retry.on.timeout = false;
  EXPECT_TRUE(says(advised(question, policy), "List `timeout`"));
  EXPECT_TRUE(says(advised(write, policy),
                   "List `timeout` under `retry.on` of the route, and give the route an `attempt_timeout`"));
  policy.retry.on.timeout = true;
  policy.retry.attempt_timeout = 2min;
  EXPECT_TRUE(says(advised(question, policy), "Raise `retry.deadline`")) << "the deadline ended it";
  policy.retry.attempt_timeout.reset();
  policy.response_timeout = 2min;
  const Question late = ask("GET", Failed{Stage::await_head, Cause::response_timeout});
  EXPECT_EQ(end_of(late, policy), Reason::deadline_too_near);
  EXPECT_EQ(advised(late, policy), "Give the route an `attempt_timeout` well below its `deadline`.");
}

TEST(Advice, advice_on_an_attempt_that_hangs_names_the_timer_that_would_end_it) {
  const Question question = ask("GET", Failed{Stage::await_head, Cause::attempt_timeout});
  RoutePolicy policy;
  EXPECT_EQ(advised(question, policy), "Give the route an `attempt_timeout` well below its `deadline`.");
  policy.retry.deadline.reset();
  EXPECT_EQ(advised(question, policy), "Give the route an `attempt_timeout`.");
  policy.retry.on.timeout = false;
  EXPECT_TRUE(says(advised(question, policy), "List `timeout` under `retry.on`"));
  policy.mode = Mode::observe;
  EXPECT_TRUE(says(advised(question, policy), "Give the route a `response_timeout`"))
      << "only an active route repeats an attempt";
}

TEST(Advice, advice_on_a_status_that_a_repeated_request_gets_again_is_to_correct_the_request) {
  for (const int status : {400, 401, 403, 404, 409, 410, 418, 422}) {
    for (const char* method : {"GET", "POST"}) {
      const std::string text = advised(ask(method, Responded{status, {}}), {});
      EXPECT_TRUE(text.starts_with("Correct the request")) << status;
      EXPECT_FALSE(says(text, "not enough")) << status;
    }
  }
  RoutePolicy policy;
  policy.retry.on = {};
  for (const int status : {408, 425, 429, 500, 503})
    EXPECT_TRUE(says(advised(ask("GET", Responded{status, {}}), policy), "List `" + std::to_string(status)));
}

TEST(Advice, J8_advice_on_a_407_is_not_to_list_it) {
  const std::string text = advised(ask("GET", Responded{407, {}}), {});
  EXPECT_FALSE(says(text, "retry.on"));
  EXPECT_TRUE(says(text, "`parent`"));
}

TEST(Advice, advice_on_spent_attempts_names_the_limit_that_was_reached) {
  const RouteTable routes = only({});
  Explanation explanation = explain(routes, ask("GET", Responded{503, {}}));
  EXPECT_EQ(advice(Reason::attempts_spent, explanation, {}), "Raise `retry.max_attempts` of the route.");
  explanation.limit = AttemptLimit::resumes;
  EXPECT_EQ(advice(Reason::attempts_spent, explanation, {}), "Raise `resume.max_attempts` of the route.");
  explanation.limit = AttemptLimit::look_ups;
  EXPECT_TRUE(says(advice(Reason::attempts_spent, explanation, {}), "Correct the name"));
}

TEST(Advice, advice_on_a_429_names_the_statuses_with_which_the_upstream_did_nothing) {
  RoutePolicy policy;
  policy.retry.on.statuses.set(429);
  EXPECT_TRUE(says(advised(ask("POST", Responded{429, {}}), policy), "`retry: {refused: [429]}`"));
  EXPECT_FALSE(says(advised(ask("POST", Responded{503, {}}), policy), "refused"));
}

TEST(Advice, M69_advice_on_a_refused_stream_names_the_key_that_trusts_the_refusal) {
  RoutePolicy policy;
  policy.refused_stream = RefusedStream::doubt;
  Question question = ask("POST", Failed{Stage::await_head, Cause::stream_refused});
  EXPECT_EQ(end_of(question, policy), Reason::not_idempotent);
  EXPECT_TRUE(says(advised(question, policy), "`refused_stream: trust`"));
  std::get<Failed>(question.outcome).unprocessed = true;
  question.first.sent = Sent::nothing;
  EXPECT_EQ(end_of(question, policy), Reason::attempts_spent);
  EXPECT_FALSE(says(advised(question, policy), "refused_stream"));
  policy.retry.on.connect = false;
  EXPECT_TRUE(says(advised(question, policy), "List `connect` under `retry.on`"));
}

TEST(Advice, M23_advice_on_an_upstream_without_http2_names_the_key) {
  const Question question = ask("GET", Failed{Stage::tls, Cause::not_http2});
  EXPECT_EQ(end_of(question, {}), Reason::attempts_spent);
  EXPECT_TRUE(says(advised(question, {}), "Give the route `http2: auto` or `never`"));
}

TEST(Advice, advice_says_why_a_request_for_another_protocol_is_not_retried) {
  const RouteTable routes = only({});
  Explanation upgrade = explain(routes, ask("GET", Failed{Stage::await_head, Cause::reset}));
  upgrade.facts.changes_protocol = true;
  EXPECT_TRUE(says(advice(Reason::not_idempotent, upgrade, {}), "asks for another protocol"));
}

TEST(Advice, advice_on_a_request_that_only_creates_names_a_rule_that_allows_the_retry) {
  Question question = ask("PUT", Failed{Stage::await_head, Cause::reset});
  question.facts.create_only = true;
  EXPECT_EQ(end_of(question, {}), Reason::not_idempotent);
  EXPECT_TRUE(says(advised(question, {}), "`idempotent: {any: [{header: If-None-Match}]}`"));
}

TEST(Advice, N20_advice_on_a_metadata_service_names_the_hosts_for_no_proxy) {
  const RouteTable routes = only({});
  Explanation denied = explain(routes, ask("GET", Failed{Stage::connect, Cause::address_denied}));
  EXPECT_TRUE(says(advice(Reason::address_denied, denied, {}), "`security.deny`"));
  denied.metadata = true;
  const std::string text = advice(Reason::address_denied, denied, {});
  EXPECT_TRUE(says(text, "`no_proxy`"));
  EXPECT_TRUE(says(text, "169.254.169.254,"));
}

TEST(Advice, E11_advice_on_an_expired_signature_depends_on_whether_the_credential_is_used_once) {
  const RouteTable routes = only({});
  Explanation expired = explain(routes, ask("GET", Responded{503, {}}));
  EXPECT_FALSE(says(advice(Reason::signature_expired, expired, {}), "`signature: {one_time: false}`"));
  expired.facts.one_time = true;
  EXPECT_TRUE(says(advice(Reason::signature_expired, expired, {}), "`signature: {one_time: false}`"));
}

}  // namespace
}  // namespace reprise::tools
