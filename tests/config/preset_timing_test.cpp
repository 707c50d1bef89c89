// Tests what each preset retries, when its attempts start, and which keys of a file override the preset.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/presets/presets.hpp"
#include "config/reference/effective.hpp"
#include "proxy/policy/decision/decide.hpp"
#include "tests/config/asking.hpp"
#include "tests/config/golden.hpp"

namespace reprise::config {
namespace {

using namespace std::chrono_literals;
using policy::Cause;
using policy::Failed;
using policy::Instant;
using policy::Outcome;
using policy::Reason;
using policy::Responded;
using policy::Stage;

// Dice that always roll the lowest number, or always the highest.
class LowDice final : public policy::Dice {
  std::uint64_t roll(std::uint64_t) override { return 0; }
};
class HighDice final : public policy::Dice {
  std::uint64_t roll(std::uint64_t highest) override { return highest; }
};

policy::Verdict first_verdict(const Settings& settings, const Asked& request, const Outcome& outcome) {
  policy::Facts facts;
  facts.idempotent = request.verdict(settings);
  policy::Attempt attempt;
  attempt.sent = policy::Sent::maybe;
  const auto& route = request.route(settings).policy;
  const Instant now{};
  HighDice dice;
  std::optional<Instant> deadline;
  if (route.retry.deadline) deadline = now + *route.retry.deadline;
  return policy::decide(facts, attempt, outcome, route, now, deadline, dice, 1e9);
}

bool retries(const Settings& settings, const Asked& request, const Outcome& outcome) {
  return first_verdict(settings, request, outcome).retry;
}

struct Course {
  std::vector<long> starts;  // seconds, rounded down
  Reason end = Reason::success;
};

// Returns the start times of the attempts, and the final reason, if every attempt fails at once with 503.
Course course(const Settings& settings, const Asked& request, policy::Dice& dice) {
  const auto& route = request.route(settings).policy;
  policy::Facts facts;
  facts.idempotent = request.verdict(settings);
  Course made;
  Instant now{};
  std::optional<Instant> deadline;
  if (route.retry.deadline) deadline = now + *route.retry.deadline;
  for (policy::Attempt attempt; attempt.number < 100; ++attempt.number, ++attempt.charged) {
    made.starts.push_back(std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count());
    attempt.sent = policy::Sent::maybe;
    const auto verdict = policy::decide(facts, attempt, Responded{503, {}}, route, now, deadline, dice, 1e9);
    made.end = verdict.reason;
    if (!verdict.retry) return made;
    now += verdict.delay;
    attempt.wait = verdict.delay;
  }
  return made;
}

Settings preset(const std::string& name) { return settings_of("presets: [" + name + "]\n"); }

const Asked read_object("GET", "storage.googleapis.com/storage/v1/b/p/o/x");
const Asked write_object("PUT", "storage.googleapis.com/p/x");

TEST(PresetTiming, R1_R2_R4_gcs_retries_exactly_the_documented_statuses) {
  const Settings gcs = preset("gcs");
  for (const int status : {429, 500, 501, 502, 503, 504, 505, 507, 508, 599})
    EXPECT_TRUE(retries(gcs, read_object, Responded{status, {}})) << status;
  for (const int status : {200, 206, 304, 308, 400, 401, 403, 404, 408, 409, 410, 412, 416, 499})
    EXPECT_FALSE(retries(gcs, read_object, Responded{status, {}})) << status;
}

TEST(PresetTiming, R3_gcs_retries_408_only_for_repeatable_resumable_uploads) {
  const Settings gcs = preset("gcs");
  const std::string at = "storage.googleapis.com/upload/storage/v1/b/p/o?";
  EXPECT_TRUE(retries(gcs, {"PUT", at + "upload_id=u"}, Responded{408, {}}));
  EXPECT_TRUE(retries(gcs, {"POST", at + "uploadType=resumable&ifGenerationMatch=0"}, Responded{408, {}}));
  EXPECT_FALSE(retries(gcs, {"POST", at + "uploadType=resumable"}, Responded{408, {}}));
  EXPECT_FALSE(retries(gcs, {"POST", at + "uploadType=media&ifGenerationMatch=0"}, Responded{408, {}}));
}

TEST(PresetTiming, R7_R8_R9_R11_gcs_retries_network_failures_of_reads_and_of_unsent_writes) {
  const Settings gcs = preset("gcs");
  const std::vector<Failed> failures{{Stage::resolve, Cause::dns_error},
                                     {Stage::connect, Cause::refused},
                                     {Stage::connect, Cause::connect_timeout},
                                     {Stage::tls, Cause::closed},
                                     {Stage::send, Cause::reset},
                                     {Stage::await_head, Cause::closed},
                                     {Stage::await_head, Cause::attempt_timeout},
                                     {Stage::head, Cause::closed}};
  for (const Failed& failed : failures) {
    EXPECT_TRUE(retries(gcs, read_object, failed)) << word(failed.cause);
    // Until the first byte is sent, a request of any method may be retried.
    EXPECT_EQ(retries(gcs, write_object, failed), failed.stage < Stage::send) << word(failed.cause);
  }
}

TEST(PresetTiming, R19_R25_gcs_starts_15_attempts_in_600_seconds) {
  const Settings gcs = preset("gcs");
  LowDice low;
  const Course made = course(gcs, read_object, low);
  EXPECT_EQ(made.starts, (std::vector<long>{0, 1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383, 447, 511, 575}));
  EXPECT_EQ(made.end, Reason::deadline_too_near);
  const auto& retry = read_object.route(gcs).policy.retry;
  EXPECT_EQ(retry.backoff.jitter, policy::Jitter::additive);
  EXPECT_EQ(retry.backoff.maximum, 64s);
  EXPECT_FALSE(retry.max_attempts);
  EXPECT_EQ(first_verdict(gcs, read_object, Responded{503, {}}).delay, 2s);  // backoff 1 s + jitter 1000 ms
}

TEST(PresetTiming, R26_R27_R30_preset_gcs_metadata_has_longer_limits_for_media_than_for_metadata_requests) {
  const Settings settings = preset("gcs-metadata");
  HighDice high;
  const Course metadata = course(settings, read_object, high);
  EXPECT_EQ(metadata.starts, (std::vector<long>{0, 1, 3, 7, 15, 31, 63}));
  EXPECT_EQ(metadata.end, Reason::deadline_too_near);
  for (const Asked& media : {Asked("GET", "storage.googleapis.com/storage/v1/b/p/o/x?alt=media"),
                             Asked("GET", "storage.googleapis.com/download/storage/v1/b/p/o/x"),
                             Asked("PUT", "storage.googleapis.com/upload/storage/v1/b/p/o?upload_id=u")}) {
    EXPECT_EQ(media.route(settings).policy.retry.deadline, Duration(600s)) << media.path;
    EXPECT_EQ(media.route(settings).policy.retry.backoff.maximum, 64s) << media.path;
    EXPECT_TRUE(media.repeatable(settings)) << media.path;
  }
  EXPECT_FALSE(write_object.repeatable(settings));
  EXPECT_EQ(write_object.route(settings).source, "gcs");
}

TEST(PresetTiming, R28_gsutil_has_23_retries_with_full_jitter) {
  HighDice high;
  LowDice low;
  const Course longest = course(preset("gsutil"), read_object, high);
  EXPECT_EQ(longest.starts.size(), 24U);
  EXPECT_EQ(longest.starts.back(), 1083);
  EXPECT_EQ(longest.end, Reason::attempts_spent);
  EXPECT_EQ(course(preset("gsutil"), read_object, low).starts.back(), 0);
  EXPECT_FALSE(write_object.repeatable(preset("gsutil")));
}

TEST(PresetTiming, R29_memorystore_limits_both_backoff_and_attempts) {
  const Asked read("GET", "redis.googleapis.com/v1/projects/p/locations/l/instances");
  LowDice low;
  const Course made = course(preset("memorystore"), read, low);
  EXPECT_EQ(made.starts, (std::vector<long>{0, 1, 3, 7, 15, 31, 63, 95}));
  EXPECT_EQ(made.end, Reason::attempts_spent);
  const Course wider =
      course(preset("{name: memorystore, retry: {max_attempts: 9, backoff: {maximum: 64s}}}"), read, low);
  EXPECT_EQ(wider.starts, (std::vector<long>{0, 1, 3, 7, 15, 31, 63, 127, 191}));
  EXPECT_FALSE(retries(preset("memorystore"), {"POST", "memcache.googleapis.com/v1/x"}, Responded{503, {}}));
  EXPECT_TRUE(
      retries(preset("memorystore"), {"DELETE", "memorystore.googleapis.com/v1/x"}, Responded{501, {}}));
}

struct Response {
  Asked request;
  Outcome outcome;
  bool retried;
};

TEST(PresetTable, aws_retries_the_documented_responses_and_failures) {
  const Settings aws = preset("aws");
  const std::string s3 = "pail.s3.eu-west-1.amazonaws.com/key";
  const std::string dynamodb = "dynamodb.eu-west-1.amazonaws.com/";
  const std::vector<Response> table{{{"GET", s3}, Responded{503, {}}, true},
                                    {{"PUT", s3}, Responded{500, {}}, true},
                                    {{"DELETE", s3}, Responded{429, {}}, true},
                                    {{"GET", s3}, Responded{501, {}}, false},
                                    {{"GET", s3}, Responded{400, {}}, false},
                                    {{"GET", s3}, Responded{408, {}}, false},
                                    {{"GET", s3}, Failed{Stage::await_head, Cause::reset}, true},
                                    {{"POST", dynamodb}, Responded{503, {}}, false},
                                    {{"POST", dynamodb}, Failed{Stage::connect, Cause::refused}, true},
                                    {{"GET", "s3.cn-north-1.amazonaws.com.cn/x"}, Responded{502, {}}, true}};
  for (const Response& row : table)
    EXPECT_EQ(retries(aws, row.request, row.outcome), row.retried) << row.request.method << row.request.host;
  const Asked get("GET", s3);
  EXPECT_TRUE(get.route(aws).policy.signature_sigv4);
  HighDice high;
  EXPECT_EQ(course(aws, get, high).starts, (std::vector<long>{0, 1, 3}));
  EXPECT_EQ(first_verdict(aws, get, Responded{503, {}}).delay, 1s);
}

TEST(PresetTable, aws_retries_post_requests_whose_headers_name_a_read_operation) {
  const Settings aws = preset("aws");
  const auto is_retried = [&](Asked request) { return retries(aws, request, Responded{503, {}}); };
  const auto targets = [&](const std::string& host, const std::string& target) {
    return is_retried(Asked("POST", host).with("header:X-Amz-Target", target));
  };
  const std::string dynamodb = "dynamodb.eu-west-1.amazonaws.com/";
  for (const char* read : {"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"})
    EXPECT_TRUE(targets(dynamodb, std::string("DynamoDB_20120810.") + read)) << read;
  for (const char* write :
       {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems", "Get"})
    EXPECT_FALSE(targets(dynamodb, std::string("DynamoDB_20120810.") + write)) << write;
  const std::string sqs = "sqs.eu-west-1.amazonaws.com/";
  EXPECT_TRUE(targets(sqs, "AmazonSQS.ReceiveMessage"));
  EXPECT_FALSE(targets(sqs, "AmazonSQS.SendMessage"));
  EXPECT_TRUE(targets("secretsmanager.eu-west-1.amazonaws.com/", "secretsmanager.GetSecretValue"));
  EXPECT_FALSE(targets("secretsmanager.eu-west-1.amazonaws.com/", "secretsmanager.PutSecretValue"));
  const std::string sts = "sts.amazonaws.com/";
  EXPECT_TRUE(is_retried(Asked("POST", sts).with("query:Action", "GetCallerIdentity")));
  EXPECT_FALSE(is_retried(Asked("POST", sts).with("query:Action", "AssumeRole")));
  EXPECT_FALSE(is_retried(Asked("POST", sts)));
}

TEST(PresetTable, git_retries_fetches_but_not_pushes_that_may_have_been_sent) {
  const Settings git = preset("git");
  const std::string at = "github.com/owner/some/deep/repository.git/";
  const auto post = [&](const std::string& service) {
    return Asked("POST", at + service).with("header:Content-Type", "application/x-" + service + "-request");
  };
  const Asked refs("GET", at + "info/refs?service=git-upload-pack");
  const Failed lost{Stage::await_head, Cause::reset};
  const std::vector<Response> table{{refs, Responded{502, {}}, true},
                                    {refs, lost, true},
                                    {post("git-upload-pack"), Responded{503, {}}, true},
                                    {post("git-upload-pack"), lost, true},
                                    {post("git-upload-pack"), Responded{401, {}}, false},
                                    {post("git-receive-pack"), Responded{503, {}}, false},
                                    {post("git-receive-pack"), lost, false},
                                    {post("git-receive-pack"), Failed{Stage::connect, Cause::refused}, true},
                                    {{"POST", at + "info/lfs/objects/batch"}, Responded{503, {}}, false}};
  for (const Response& row : table)
    EXPECT_EQ(retries(git, row.request, row.outcome), row.retried)
        << row.request.route(git).name << outcome_label(row.outcome);
  EXPECT_EQ(post("git-upload-pack").route(git).name, "git/fetch");
  EXPECT_EQ(post("git-receive-pack").route(git).name, "git/push");
  HighDice high;
  EXPECT_EQ(course(git, refs, high).starts.size(), 8U);
  EXPECT_EQ(first_verdict(git, refs, Responded{503, {}}).delay, 500ms);
}

TEST(PresetTable, aws_2026_policies_set_their_own_attempt_counts_and_delays) {
  const Settings settings = preset("{name: aws, policy: aws-2026}");
  const Asked get("GET", "pail.s3.eu-west-1.amazonaws.com/key");
  EXPECT_EQ(get.route(settings).policy.retry.max_attempts, 3U);
  EXPECT_EQ(first_verdict(settings, get, Responded{503, {}}).delay, 50ms);
  policy::Hints hints;
  hints.aws_retry_after = 2s;
  EXPECT_EQ(first_verdict(settings, get, Responded{503, hints}).delay, 2s);
  const Settings dynamodb = preset("{name: aws, policy: aws-2026-dynamodb}");
  EXPECT_EQ(get.route(dynamodb).policy.retry.max_attempts, 4U);
  EXPECT_EQ(first_verdict(dynamodb, get, Responded{503, {}}).delay, 25ms);
}

TEST(PresetTable, llm_retries_the_documented_responses_and_hints) {
  const Settings llm = preset("llm");
  const Asked message("POST", "api.anthropic.com/v1/messages");
  policy::Hints pause;
  pause.retry_after = 90s;
  policy::Hints too_long;
  too_long.retry_after = 121s;
  policy::Hints no;
  no.said_no = true;
  const std::vector<Response> table{{message, Responded{429, {}}, true},
                                    {message, Responded{503, {}}, true},
                                    {message, Responded{529, {}}, true},
                                    {message, Responded{500, {}}, false},
                                    {message, Responded{504, {}}, false},
                                    {message, Responded{400, {}}, false},
                                    {message, Responded{429, pause}, true},
                                    {message, Responded{429, too_long}, false},
                                    {message, Responded{529, no}, false},
                                    {message, Failed{Stage::connect, Cause::refused}, true},
                                    {message, Failed{Stage::await_head, Cause::reset}, false},
                                    {message, Failed{Stage::await_head, Cause::attempt_timeout}, false},
                                    {{"POST", "api.openai.com/v1/responses"}, Responded{429, {}}, true}};
  for (const Response& row : table)
    EXPECT_EQ(retries(llm, row.request, row.outcome), row.retried) << outcome_label(row.outcome);
  EXPECT_EQ(first_verdict(llm, message, Responded{429, pause}).delay, 90s);
  EXPECT_EQ(first_verdict(llm, message, Responded{529, no}).reason, Reason::upstream_said_no);
}

// A preset sets all its retry limits itself. Limits under `defaults` therefore do not apply to the preset.
TEST(Presets, presets_inherit_no_retry_limits_from_defaults) {
  const std::string hostile =
      "defaults: {retry: {on: [404], max_attempts: 2, deadline: 7s, attempt_timeout: 5ms, "
      "backoff: {initial: 3ms, multiplier: 9, maximum: 4ms, jitter: decorrelated}}, idempotent: never, mode: "
      "observe, connect_timeout: 1s}\n";
  for (const std::string_view name : preset_names()) {
    const std::string list = "presets: [" + std::string(name) + "]\n";
    const Settings plain = settings_of(list);
    const Settings other = settings_of(hostile + list);
    ASSERT_EQ(plain.routes->size(), other.routes->size());
    ASSERT_GT(plain.routes->size(), 1U) << name;
    for (std::size_t i = 0; i + 1 < plain.routes->size(); ++i) {
      const policy::Route& expected = (*plain.routes)[i];
      const policy::Route& route = (*other.routes)[i];
      EXPECT_EQ(route.policy.retry.on, expected.policy.retry.on) << route.name;
      EXPECT_EQ(route.policy.retry.max_attempts, expected.policy.retry.max_attempts) << route.name;
      EXPECT_EQ(route.policy.retry.deadline, expected.policy.retry.deadline) << route.name;
      EXPECT_EQ(route.policy.retry.attempt_timeout, expected.policy.retry.attempt_timeout) << route.name;
      EXPECT_EQ(route.policy.retry.backoff.initial, expected.policy.retry.backoff.initial) << route.name;
      EXPECT_EQ(route.policy.retry.backoff.multiplier, expected.policy.retry.backoff.multiplier)
          << route.name;
      EXPECT_EQ(route.policy.retry.backoff.maximum, expected.policy.retry.backoff.maximum) << route.name;
      EXPECT_EQ(route.policy.retry.backoff.jitter, expected.policy.retry.backoff.jitter) << route.name;
      EXPECT_EQ(route.policy.idempotent, expected.policy.idempotent) << route.name;
      EXPECT_EQ(route.policy.mode, policy::Mode::observe) << route.name;  // inherited: `mode` is no limit
      EXPECT_EQ(route.policy.connect_timeout, 1s) << route.name;
    }
  }
}

TEST(Presets, embedded_preset_texts_equal_the_files_and_load_as_configurations) {
  for (const std::string_view name : preset_names()) {
    const std::string file = golden::read(golden::in_source("config/presets/" + std::string(name) + ".yaml"));
    EXPECT_EQ(preset_text(name), file) << name;
    const Loaded loaded = load_text(file, {});
    for (const Problem& problem : loaded.problems)
      EXPECT_EQ(problem.severity, Problem::Severity::warning) << to_line(problem, name);
    ASSERT_TRUE(loaded.settings) << name;
    const Settings listed = preset(std::string(name));
    EXPECT_EQ(effective_yaml(*loaded.settings), effective_yaml(listed)) << name;
  }
  EXPECT_FALSE(preset_text("gcs.yaml"));
  EXPECT_FALSE(preset_text(""));
}

TEST(Presets, preset_names_are_the_allowed_words_of_the_presets_key) {
  const auto words = split_words(find_key("presets[].name")->words);
  EXPECT_EQ(preset_names(), words);
}

TEST(Presets, preset_routes_follow_the_routes_of_the_file_and_keep_their_lines) {
  const Settings settings =
      settings_of("presets: [llm]\nroutes: [{name: mine, match: {host: api.openai.com}}]\n");
  ASSERT_EQ(settings.routes->size(), 3U);
  EXPECT_EQ((*settings.routes)[0].name, "mine");
  EXPECT_EQ((*settings.routes)[0].source, "");
  EXPECT_EQ((*settings.routes)[1].name, "llm/api");
  EXPECT_EQ((*settings.routes)[1].source, "llm");
  const std::string file = golden::read(golden::in_source("config/presets/llm.yaml"));
  const auto start = file.begin();
  const auto lines_before =
      std::count(start, start + static_cast<std::ptrdiff_t>(file.find("- {name: llm/api")), '\n');
  EXPECT_EQ((*settings.routes)[1].line, static_cast<std::size_t>(lines_before) + 1);
  EXPECT_EQ(Asked("POST", "api.openai.com/v1").route(settings).name, "mine");
}

TEST(Presets, preset_policies_are_usable_by_name_unless_the_file_defines_that_name) {
  for (const std::string_view name : preset_policy_names()) {
    const Settings settings =
        settings_of("routes: [{name: r, match: {host: h}, policy: " + std::string(name) + "}]\n");
    EXPECT_FALSE((*settings.routes)[0].policy.retry.on == policy::RetryOn::defaults()) << name;
    EXPECT_EQ((*settings.routes)[0].policy.idempotent.kind, policy::IdempotencyRule::Kind::by_method) << name;
  }
  EXPECT_EQ(preset_policy_names().size(), 16U);
  const Settings own = settings_of(
      "policies: {llm: {retry: {max_attempts: 3}}}\nroutes: [{name: r, match: {host: h}, policy: llm}]\n");
  EXPECT_EQ((*own.routes)[0].policy.retry.max_attempts, 3U);
  EXPECT_EQ((*own.routes)[0].policy.retry.deadline, Duration(60s));
}

TEST(Presets, preset_settings_are_layered_from_defaults_to_the_preset_entry) {
  const Settings settings = settings_of(R"(
defaults: {connect_timeout: 9s, retry: {attempt_timeout: 9s}}
policies: {mine: {retry: {max_attempts: 5, deadline: 30s, on: [418]}}}
presets: [{name: gcs, policy: mine, retry: {deadline: 20s}, budget: off}]
)");
  const auto& chunk =
      Asked("PUT", "storage.googleapis.com/upload/storage/v1/b/p/o?upload_id=1").route(settings);
  EXPECT_EQ(chunk.policy.connect_timeout, 9s);                   // defaults
  EXPECT_EQ(chunk.policy.retry.attempt_timeout, Duration(60s));  // from the preset's policy
  EXPECT_EQ(chunk.policy.retry.backoff.maximum, 64s);            // from the preset's policy
  EXPECT_EQ(chunk.policy.retry.max_attempts, 5U);                // from the entry's policy
  EXPECT_TRUE(chunk.policy.retry.on.statuses.test(408));         // from the route's own keys
  EXPECT_FALSE(chunk.policy.retry.on.statuses.test(418));
  EXPECT_EQ(chunk.policy.retry.deadline, Duration(20s));  // the entry
  EXPECT_FALSE(chunk.policy.budget);
  EXPECT_TRUE(read_object.route(settings).policy.retry.on.statuses.test(418));
}

TEST(Presets, printed_presets_load_back_unchanged) {
  for (const std::string_view name : preset_names()) {
    const std::string printed = effective_yaml(preset(std::string(name)));
    const Loaded again = load_text(printed, {});
    ASSERT_TRUE(again.settings) << name;
    EXPECT_EQ(effective_yaml(*again.settings), printed) << name;
  }
}

TEST(Presets, all_presets_except_gcs_variants_combine_with_unique_route_names) {
  std::string list;
  for (const std::string_view name : preset_names()) {
    if (!name.starts_with("gcs")) list.append(list.empty() ? "" : ", ").append(name);
  }
  const Settings settings = settings_of("presets: [" + list + "]\n");
  std::set<std::string> names;
  for (std::size_t i = 0; i < settings.routes->size(); ++i) names.insert((*settings.routes)[i].name);
  EXPECT_EQ(names.size(), settings.routes->size());
}

}  // namespace
}  // namespace reprise::config
