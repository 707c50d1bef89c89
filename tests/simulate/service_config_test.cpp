#include "proxy/tools/simulate/service_config.hpp"

#include <gtest/gtest.h>
#include <tuple>

#include "tests/simulate/worlds.hpp"

namespace reprise::tools {
namespace service_config_test {
namespace {

constexpr std::string_view retries =
    R"({"maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2.5,
        "retryableStatusCodes": ["UNAVAILABLE", 10]})";

/// Returns a service config with one entry. `name`: its names; `more`: its other members.
std::string config_of(std::string_view name, std::string_view more) {
  return R"({"loadBalancingConfig": [], "methodConfig": [{"name": [)" + std::string(name) + "]" +
         std::string(more) + "}]}";
}

ServiceConfig good(const std::string& text) {
  auto read = read_service_config(text);
  if (const auto* fault = std::get_if<ServiceConfigFault>(&read)) {
    ADD_FAILURE() << to_line(*fault, "c.json");
    return {};
  }
  return std::get<ServiceConfig>(std::move(read));
}

std::string fault(const std::string& text) {
  const auto read = read_service_config(text);
  const auto* found = std::get_if<ServiceConfigFault>(&read);
  return found == nullptr ? "none" : to_line(*found, "c.json");
}

bool has(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

/// Returns a model whose requests are calls of one method, and which has the defaults of `calm` otherwise.
Model calls(std::string_view path = "/shop.Catalog/GetItem") {
  Model model = calm();
  model.duration = seconds(10);
  model.mix.front().method = "POST";
  model.mix.front().path = path;
  model.mix.front().call = true;
  return model;
}

Trouble ending(policy::GrpcStatus status) {
  policy::Responded ended{200, {}};
  ended.grpc = status;
  return {ended, false, std::string(policy::call_word_prefix).append(word(status))};
}

Measures simulated_by(const ServiceConfig& config, const Model& model) {
  EXPECT_FALSE(contradiction(model)) << contradiction(model)->why;
  ModelledWorld world(model);
  return run(subject_of(config), world, options_for(model));
}

TEST(ServiceConfig, M111_retry_policy_becomes_the_policy_of_a_route) {
  const ServiceConfig config = good(config_of(
      R"({"service": "shop.Catalog"})", R"(, "timeout": "2.5s", "retryPolicy": )" + std::string(retries)));
  ASSERT_EQ(config.routes.size(), 1U);
  EXPECT_EQ(config.routes.front().match.grpc.front().text(), "shop.Catalog/*");
  const policy::RetryPolicy& retry = config.routes.front().policy.retry;
  EXPECT_EQ(retry.max_attempts, 4U);
  EXPECT_EQ(retry.backoff.multiplier, 2.5);
  EXPECT_EQ(retry.deadline, Duration(milliseconds(2500)));
  EXPECT_EQ(retry.on.calls.count(), 2U);
  EXPECT_TRUE(retry.on.calls.test(14) && retry.on.calls.test(10));
  EXPECT_TRUE(retry.on.statuses.test(503) && retry.on.statuses.test(429) && retry.on.connect);
  EXPECT_FALSE(retry.on.statuses.test(500) || retry.on.timeout);
  EXPECT_EQ(config.sentences.front(),
            "shop.Catalog/*: at most 4 attempts, waits of 100ms, times 2.5 up to 1s, each 20 % shorter to "
            "20 % longer, after unavailable, aborted; "
            "the call ends after 2s500ms");
}

// gRPC A6: the step is capped before its random factor is applied.
TEST(ServiceConfig, M111_wait_is_the_step_times_a_factor_from_0_8_to_1_2) {
  const ServiceConfig config =
      good(config_of(R"({"service": "shop.Catalog"})", R"(, "retryPolicy": )" + std::string(retries)));
  const policy::Backoff& backoff = config.routes.front().policy.retry.backoff;
  for (const auto& [retry, lowest, highest] : {std::tuple(0U, 80, 120), std::tuple(1U, 200, 300),
                                               std::tuple(2U, 500, 750), std::tuple(3U, 800, 1200)}) {
    const policy::WaitRange range = policy::wait_range(backoff, retry, {});
    EXPECT_NEAR(static_cast<double>(range.lowest.count()), lowest * 1e6, 1) << retry;
    EXPECT_EQ(range.highest, milliseconds(highest)) << retry;
  }
}

TEST(ServiceConfig, M111_more_specific_names_are_matched_first) {
  const ServiceConfig config = good(
      R"({"methodConfig": [{"name": [{}]}, {"name": [{"service": "a.B"}, {"service": "c.D", "method": "E"}]}]})");
  ASSERT_EQ(config.routes.size(), 3U);
  EXPECT_EQ(config.routes[0].name, "c.D/E");
  EXPECT_EQ(config.routes[1].name, "a.B/*");
  EXPECT_EQ(config.routes[2].name, "*/*");
  EXPECT_EQ(config.sentences.front(), "*/*: each call is sent once");
}

TEST(ServiceConfig, M111_max_attempts_is_limited_to_five_with_a_note) {
  std::string many(retries);
  many.replace(many.find('4'), 1, "9");
  const ServiceConfig config = good(config_of("{}", R"(, "retryPolicy": )" + many));
  EXPECT_EQ(config.routes.front().policy.retry.max_attempts, 5U);
  ASSERT_EQ(config.notes.size(), 1U);
  EXPECT_EQ(config.notes.front(), "methodConfig[0].retryPolicy.maxAttempts is 9: gRPC limits it to 5.");
}

TEST(ServiceConfig, M111_hedging_policy_becomes_a_hedge) {
  const ServiceConfig config = good(config_of(
      "{}",
      R"(, "hedgingPolicy": {"maxAttempts": 3, "hedgingDelay": "0.02s", "nonFatalStatusCodes": ["internal"]})"));
  const policy::RoutePolicy& policy = config.routes.front().policy;
  ASSERT_TRUE(policy.hedge);
  EXPECT_EQ(policy.hedge->after, Duration(milliseconds(20)));
  EXPECT_TRUE(policy.retry.on.calls.test(13));
  EXPECT_EQ(config.notes.size(), 1U);
}

TEST(ServiceConfig, M111_throttling_is_described) {
  const ServiceConfig config =
      good(R"({"methodConfig": [{"name": [{}]}], "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1}})");
  EXPECT_EQ(config.throttling,
            "10 tokens; a failed attempt takes 1, a success returns 0.1; no retry with 5 tokens or fewer");
  EXPECT_TRUE(has(subject_of(config).sentence, "without its throttling"));
}

TEST(ServiceConfig, M111_invalid_config_is_an_error_with_its_place) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text(retries);
    text.replace(text.find(from), from.size(), to);
    return fault(config_of("{}", R"(, "retryPolicy": )" + text));
  };
  EXPECT_TRUE(has(fault("{\n  \"methodConfig\": [}"), "c.json:2:")) << fault("{\n  \"methodConfig\": [}");
  EXPECT_TRUE(has(fault(""), "c.json:1:1: error: this is not JSON"));
  EXPECT_TRUE(has(fault("{} x"), "c.json:1:"));
  EXPECT_TRUE(has(fault("[]"), "c.json: error: the service config is not an object"));
  EXPECT_TRUE(has(fault("{}"), "c.json: error: methodConfig is missing: write "));
  EXPECT_TRUE(has(fault(R"({"methodConfig": []})"), "methodConfig is not a list of methods"));
  EXPECT_TRUE(has(fault(R"({"methodConfig": [{"name": []}]})"), "methodConfig[0].name names no method"));
  EXPECT_TRUE(
      has(fault(config_of(R"({"method": "Get"})", "")), "methodConfig[0].name[0].service is missing"));
  EXPECT_TRUE(has(fault(config_of(R"({"service": 1})", "")), "name[0].service is not a string"));
  EXPECT_TRUE(has(fault(config_of(R"({"service": "a b"})", "")), "name[0] is not a name"));
  EXPECT_TRUE(has(fault(config_of("{}, {}", "")), "name[1] is */*, which is named already"));
  EXPECT_TRUE(
      has(fault(config_of("{}", R"(, "timeout": "soon")")), "methodConfig[0].timeout is not a duration"));
  EXPECT_TRUE(
      has(fault(config_of("{}", R"(, "retryPolicy": {}, "hedgingPolicy": {})")), "write only one of them"));
  EXPECT_TRUE(
      has(with("4", "1"), "retryPolicy.maxAttempts is out of range: write a whole number from 2 to 5"));
  EXPECT_TRUE(has(with("4", "2.5"), "retryPolicy.maxAttempts is out of range"));
  EXPECT_TRUE(has(with("0.1s", "0s"), "retryPolicy.initialBackoff must be above 0"));
  EXPECT_TRUE(has(with("\"1s\"", "1"), "retryPolicy.maxBackoff is not a duration: write "));
  EXPECT_TRUE(has(with("2.5", "0"), "retryPolicy.backoffMultiplier is out of range"));
  EXPECT_TRUE(has(with("UNAVAILABLE", "BROKEN"), "retryableStatusCodes[0] is not a status: write "));
  EXPECT_TRUE(has(with("10", "17"), "retryableStatusCodes[1] is not a status"));
  EXPECT_TRUE(has(with("[\"UNAVAILABLE\", 10]", "[]"), "retryableStatusCodes is not a list"));
  EXPECT_TRUE(has(
      fault(R"({"methodConfig": [{"name": [{}]}], "retryThrottling": {"maxTokens": 2000, "tokenRatio": 1}})"),
      "retryThrottling.maxTokens is out of range"));
}

TEST(ServiceConfig, M111_calls_are_retried_until_max_attempts) {
  const ServiceConfig config = good(config_of("{}", R"(, "retryPolicy": )" + std::string(retries)));
  Model model = calls();
  model.errors = {{1, ending(policy::GrpcStatus::unavailable)}};
  const Measures failing = simulated_by(config, model);
  EXPECT_EQ(failing.attempts, failing.requests * 4);
  EXPECT_EQ(failing.succeeded, 0U);
  model.errors = {{1, ending(policy::GrpcStatus::data_loss)}};
  const Measures unlisted = simulated_by(config, model);
  EXPECT_EQ(unlisted.attempts, unlisted.requests);
  EXPECT_EQ(unlisted.succeeded, 0U);
  model.errors = {{1, ending(policy::GrpcStatus::not_found)}};
  EXPECT_EQ(simulated_by(config, model).succeeded, unlisted.requests) << "the server works";
}

TEST(ServiceConfig, M111_calls_that_it_does_not_name_are_sent_once) {
  const ServiceConfig config =
      good(config_of(R"({"service": "shop.Orders"})", R"(, "retryPolicy": )" + std::string(retries)));
  Model model = calls();
  model.errors = {{1, ending(policy::GrpcStatus::unavailable)}};
  const Measures measures = simulated_by(config, model);
  EXPECT_EQ(measures.attempts, measures.requests);
}

TEST(ServiceConfig, M111_hung_call_ends_at_its_timeout) {
  const ServiceConfig config = good(config_of("{}", R"(, "timeout": "0.5s")"));
  Model model = calls();
  model.errors = {{1, {policy::Responded{503, {}}, true, "hang"}}};
  const Measures measures = simulated_by(config, model);
  EXPECT_EQ(measures.unfinished, 0U);
  EXPECT_LE(measures.latency_of_all.percentile(1), milliseconds(520));
}

}  // namespace
}  // namespace service_config_test
}  // namespace reprise::tools
