// Tests request histories as OTLP/HTTP JSON, byte by byte.
#include "proxy/telemetry/tracing/otlp_json.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>

#include "proxy/telemetry/history/encoded_entry.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::server {
namespace {

namespace json = boost::json;
using policy::Cause;
using policy::Reason;
using policy::Stage;
using std::chrono::milliseconds;
using telemetry::HistoryEntry;
using telemetry::ScriptedRequest;

/// Dice that roll 0, 1, 2, and so on.
class Counting final : public policy::Dice {
 public:
  std::uint64_t roll(std::uint64_t) override { return count_++; }

 private:
  std::uint64_t count_ = 0;
};

HistoryEntry story_of(const telemetry::ExchangeRecord& record, std::string route = "default") {
  const telemetry::EncodedEntry stored(record, true);
  std::vector<std::byte> bytes(stored.bytes());
  stored.put(bytes.data());
  HistoryEntry story = telemetry::decoded_entry(bytes.data());
  story.route_name = std::move(route);
  return story;
}

class OtlpJsonTest : public testing::Test {
 protected:
  std::string text(const HistoryEntry& story, std::uint64_t random = 0x1122334455667788) {
    encoder_.begin();
    encoder_.add(story, random);
    return std::string(encoder_.end());
  }
  json::array spans(const HistoryEntry& story) {
    const json::value whole = json::parse(text(story));
    return whole.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array();
  }
  /// Returns the attributes as `key=value`, with the type before the value unless it is a string.
  static std::set<std::string> attributes(const json::value& span) {
    std::set<std::string> all;
    for (const json::value& one : span.at("attributes").as_array()) {
      const json::object& value = one.at("value").as_object();
      const auto& [type, inside] = *value.begin();
      const std::string plain =
          inside.is_string() ? std::string(inside.get_string()) : json::serialize(inside);
      const std::string mark = type == "stringValue" ? "" : std::string(type) + " ";
      EXPECT_TRUE(all.insert(std::string(one.at("key").as_string()) + "=" + mark + plain).second);
    }
    return all;
  }

  Counting dice_;
  telemetry::OtlpJson encoder_{{"1.2", "reprise-abc", "host", 17}, dice_};
};

TEST_F(OtlpJsonTest, request_without_retries_has_exactly_this_json) {
  ScriptedRequest request("plain", "GET", "/v1/x");
  request.attempt(telemetry::status(200), 12, telemetry::stop(Reason::success), true)
      .ends(telemetry::Ending::complete, 200);
  EXPECT_EQ(
      text(story_of(request.record())),
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"reprise"}},)"
      R"({"key":"service.version","value":{"stringValue":"1.2"}},)"
      R"({"key":"service.instance.id","value":{"stringValue":"reprise-abc"}},)"
      R"({"key":"host.name","value":{"stringValue":"host"}},{"key":"process.pid","value":{"intValue":"17"}}]},)"
      R"("scopeSpans":[{"scope":{"name":"reprise","version":"1.2"},"spans":[)"
      R"({"traceId":"00000000000000011122334455667788","spanId":"0000000000000002","flags":257,"name":"GET","kind":2,)"
      R"("startTimeUnixNano":"1767348192333000000","endTimeUnixNano":"1767348192345000000","attributes":[)"
      R"({"key":"http.request.method","value":{"stringValue":"GET"}},)"
      R"({"key":"server.address","value":{"stringValue":"api.internal"}},{"key":"server.port","value":{"intValue":"80"}},)"
      R"({"key":"url.scheme","value":{"stringValue":"http"}},{"key":"url.path","value":{"stringValue":"/v1/x"}},)"
      R"({"key":"http.response.status_code","value":{"intValue":"200"}},)"
      R"({"key":"reprise.route","value":{"stringValue":"default"}},{"key":"reprise.reason","value":{"stringValue":"success"}},)"
      R"({"key":"reprise.attempts","value":{"intValue":"1"}}]},)"
      R"({"traceId":"00000000000000011122334455667788","spanId":"0000000000000003","parentSpanId":"0000000000000002",)"
      R"("flags":257,"name":"GET","kind":3,)"
      R"("startTimeUnixNano":"1767348192333000000","endTimeUnixNano":"1767348192345000000","attributes":[)"
      R"({"key":"http.request.method","value":{"stringValue":"GET"}},)"
      R"({"key":"server.address","value":{"stringValue":"api.internal"}},{"key":"server.port","value":{"intValue":"80"}},)"
      R"({"key":"url.full","value":{"stringValue":"http://api.internal/v1/x"}},)"
      R"({"key":"reprise.outcome","value":{"stringValue":"2xx"}},{"key":"http.response.status_code","value":{"intValue":"200"}},)"
      R"({"key":"reprise.reason","value":{"stringValue":"success"}},{"key":"reprise.retry","value":{"boolValue":false}},)"
      R"({"key":"reprise.wait_ms","value":{"doubleValue":0.000}},{"key":"reprise.reused","value":{"boolValue":true}},)"
      R"({"key":"reprise.may_have_sent","value":{"boolValue":false}}]}]}]}]})");
}

TEST_F(OtlpJsonTest, attempts_are_children_of_the_request_span) {
  ScriptedRequest request("retried", "GET", "/x");
  request.attempt(telemetry::status(503, std::chrono::seconds(1)), 10,
                  telemetry::retry_in(milliseconds(1000), Reason::retryable_status));
  request.attempt(telemetry::failure(Stage::await_head, Cause::reset), 20,
                  telemetry::retry_in(milliseconds(5), Reason::retryable_failure), true);
  request.attempt(telemetry::status(200), 30, telemetry::stop(Reason::success))
      .ends(telemetry::Ending::complete, 200);
  request.host("::1", 8443);
  telemetry::ExchangeRecord record = request.record();
  record.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  record.client = "[2001:db8::7]:4711";
  record.over_tls = true;
  const json::array all = spans(story_of(record));
  ASSERT_EQ(all.size(), 4U);
  for (const json::value& span : all)
    EXPECT_EQ(span.at("traceId").as_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(all[0].at("parentSpanId").as_string(), "00f067aa0ba902b7");
  EXPECT_EQ(all[0].at("flags").as_int64(), 0x301) << "sampled, and the parent is another process's";
  EXPECT_FALSE(all[0].as_object().contains("status"));
  std::set<std::string> ids;
  for (const json::value& span : all) ids.insert(std::string(span.at("spanId").as_string()));
  EXPECT_EQ(ids.size(), 4U);
  const std::set<std::string> asked = attributes(all[0]);
  EXPECT_TRUE(asked.contains("client.address=2001:db8::7"));
  EXPECT_TRUE(asked.contains("reprise.recovered=boolValue true"));
  EXPECT_TRUE(asked.contains("reprise.attempts=intValue 3"));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_EQ(all[i].at("parentSpanId"), all[0].at("spanId"));
    const auto found = attributes(all[i]);
    EXPECT_TRUE(found.contains("url.full=https://[::1]:8443/x"));
    EXPECT_EQ(found.contains("http.request.resend_count=intValue " + std::to_string(i - 1)), i > 1) << i;
  }
  const auto first = attributes(all[1]);
  EXPECT_TRUE(first.contains("error.type=503"));
  EXPECT_TRUE(first.contains("reprise.retry=boolValue true"));
  EXPECT_TRUE(first.contains("reprise.reason=retryable_status"));
  EXPECT_TRUE(first.contains("reprise.retry_after_ms=doubleValue 1E3"));
  EXPECT_EQ(all[1].at("status").at("code").as_int64(), 2);
  const auto second = attributes(all[2]);
  EXPECT_TRUE(second.contains("error.type=reset"));
  EXPECT_TRUE(second.contains("reprise.stage=await_head"));
  EXPECT_TRUE(second.contains("reprise.wait_ms=doubleValue 1E3"));
  EXPECT_EQ(all[2].at("startTimeUnixNano").as_string(), std::to_string(telemetry::story_wall - 55'000'000));
}

TEST_F(OtlpJsonTest, errors_are_marked_according_to_span_kind_and_outcome) {
  const auto requested = [this](const ScriptedRequest& request) { return spans(story_of(request.record())); };
  ScriptedRequest lost("lost", "GET", "/");
  lost.attempt(telemetry::status(404), 1, telemetry::stop(Reason::not_retryable))
      .ends(telemetry::Ending::complete, 404);
  json::array all = requested(lost);
  EXPECT_FALSE(all[0].as_object().contains("status")) << "of a server a 404 is no error, of a client it is";
  EXPECT_EQ(all[1].at("status").at("code").as_int64(), 2);
  ScriptedRequest failed("failed", "GET", "/");
  failed.attempt(telemetry::failure(Stage::connect, Cause::refused), 1, telemetry::stop(Reason::retries_off));
  failed.ends(telemetry::Ending::complete, 502).own_response();
  all = requested(failed);
  EXPECT_EQ(all[0].at("status").at("code").as_int64(), 2);
  EXPECT_TRUE(attributes(all[0]).contains("error.type=502"));
  EXPECT_TRUE(attributes(all[0]).contains("reprise.own_response=boolValue true"));
  ScriptedRequest cut("cut", "GET", "/");
  cut.attempt(telemetry::status(200), 1, telemetry::stop(Reason::response_started))
      .ends(telemetry::Ending::cut, 200);
  all = requested(cut);
  EXPECT_TRUE(attributes(all[0]).contains("error.type=cut"));
  EXPECT_FALSE(all[1].as_object().contains("status"));
  ScriptedRequest slower("slower", "GET", "/");
  slower.attempt(telemetry::failure(Stage::await_head, Cause::cancelled), 1, telemetry::stop(Reason::hedged));
  slower.ends(telemetry::Ending::client_gone, 0).ambiguous();
  all = requested(slower);
  EXPECT_FALSE(all[1].as_object().contains("status")) << "we stopped it";
  EXPECT_TRUE(attributes(all[1]).contains("reprise.outcome=cancelled"));
  EXPECT_TRUE(attributes(all[0]).contains("error.type=client_gone"));
  EXPECT_TRUE(attributes(all[0]).contains("reprise.ambiguous=boolValue true"));
}

TEST_F(OtlpJsonTest, unknown_method_is_not_used_as_a_span_name) {
  ScriptedRequest odd("odd", "get", "/");
  odd.attempt(telemetry::status(200), 1, telemetry::stop(Reason::success))
      .ends(telemetry::Ending::complete, 200);
  const json::array all = spans(story_of(odd.record()));
  ASSERT_EQ(all.size(), 2U) << "of the request and of its attempt";
  for (const json::value& span : all) {
    EXPECT_EQ(span.at("name").as_string(), "HTTP");
    EXPECT_TRUE(attributes(span).contains("http.request.method=_OTHER"));
    EXPECT_TRUE(attributes(span).contains("http.request.method_original=get"));
  }
}

TEST_F(OtlpJsonTest, any_request_content_yields_valid_json) {
  for (ScriptedRequest& request : telemetry::all_stories()) {
    telemetry::ExchangeRecord record = request.record();
    record.client = "no colon";
    const json::array all = spans(story_of(record, "a\"\n\x01"));
    EXPECT_EQ(all.size(), encoder_.spans()) << request.name();
    EXPECT_EQ(all.size(), 1 + std::min<std::size_t>(record.ledger->size(), 32)) << request.name();
    EXPECT_EQ(attributes(all[0]).contains("url.scheme=http"), !record.tunnel) << request.name();
  }
}

TEST_F(OtlpJsonTest, span_of_an_attempt_contains_the_address_and_port_of_its_peer) {
  ScriptedRequest request("peer", "OPTIONS", "*");
  request.attempt(telemetry::status(200), 1, telemetry::stop(Reason::success))
      .ends(telemetry::Ending::complete, 200);
  HistoryEntry story = story_of(request.record());
  story.attempts[0].address.family = policy::UpstreamAddress::Family::v6;
  story.attempts[0].address.bytes[15] = 1;
  story.attempts[0].address.port = 81;
  story.attempts[0].verdict.retry = true;
  story.hedge = policy::HedgeOutcome::won;
  story.id = "abc-1";
  auto& responded = std::get<policy::Responded>(story.attempts[0].outcome);
  responded.hints.said_no = responded.body_listed = true;
  json::array all = spans(story);
  EXPECT_TRUE(attributes(all[1]).contains("network.peer.address=::1"));
  EXPECT_TRUE(attributes(all[1]).contains("network.peer.port=intValue 81"));
  EXPECT_TRUE(attributes(all[1]).contains("reprise.said_no=boolValue true"));
  EXPECT_TRUE(attributes(all[1]).contains("reprise.body_listed=boolValue true"));
  EXPECT_FALSE(text(story).find("url.full") != std::string::npos) << "* is no path";
  EXPECT_TRUE(attributes(all[0]).contains("reprise.hedge=won"));
  EXPECT_TRUE(attributes(all[0]).contains("reprise.id=abc-1"));
  story.attempts[0].address.family = policy::UpstreamAddress::Family::v4;
  story.attempts[0].address.bytes = {127, 0, 0, 1};
  all = spans(story);
  EXPECT_TRUE(attributes(all[1]).contains("network.peer.address=127.0.0.1"));
}

TEST_F(OtlpJsonTest, M107_span_of_an_attempt_over_http2_has_version_code_and_queue) {
  ScriptedRequest request("http2", "POST", "/x");
  request.attempt(telemetry::stream_reset("cancel"), 5, telemetry::stop(Reason::not_idempotent))
      .over_http2(milliseconds(30));
  request.attempt(telemetry::status(200), 5, telemetry::stop(Reason::success));
  const json::array all = spans(story_of(request.ends(telemetry::Ending::complete, 200).record()));
  const std::set<std::string> first = attributes(all[1]);
  for (const char* one : {"network.protocol.version=2", "reprise.reset_code=cancel",
                          "error.type=stream_reset", "reprise.queued_ms=doubleValue 3E1"})
    EXPECT_TRUE(first.contains(one)) << one;
  for (const std::string& one : attributes(all[2]))
    EXPECT_EQ(one.find("network.protocol"), std::string::npos);
}

TEST_F(OtlpJsonTest, M113_spans_of_a_call_have_its_name_and_status) {
  ScriptedRequest request("call", "POST", "/shop.v1.Orders/Get");
  request.attempt(telemetry::call_status(policy::GrpcStatus::not_found), 5,
                  telemetry::stop(Reason::not_retryable));
  request.ends(telemetry::Ending::complete, 200).call(policy::GrpcStatus::not_found);
  json::array all = spans(story_of(request.record()));
  for (const json::value& span : all) {
    EXPECT_EQ(span.at("name").as_string(), "shop.v1.Orders/Get");
    for (const char* one : {"rpc.system=grpc", "rpc.service=shop.v1.Orders", "rpc.method=Get",
                            "rpc.grpc.status_code=intValue 5"})
      EXPECT_TRUE(attributes(span).contains(one)) << one;
  }
  EXPECT_FALSE(all[0].as_object().contains("status")) << "it is an error of the client only";
  EXPECT_EQ(all[1].at("status").at("code").as_int64(), 2);
  EXPECT_TRUE(attributes(all[1]).contains("error.type=not_found"));
  EXPECT_TRUE(attributes(all[1]).contains("reprise.outcome=grpc"));
}

TEST_F(OtlpJsonTest, M113_span_of_a_call_is_an_error_if_the_server_failed) {
  const auto is_error = [this](std::optional<policy::GrpcStatus> status) {
    ScriptedRequest request("call", "POST", "/shop.v1.Orders/Get");
    request.attempt(telemetry::status(200), 5, telemetry::stop(Reason::success)).call(status);
    const json::array all = spans(story_of(request.ends(telemetry::Ending::complete, 200).record()));
    return all[0].as_object().contains("status");
  };
  std::set<std::string_view> errors;
  for (std::size_t i = 0; i < policy::grpc_status_count; ++i) {
    const auto status = static_cast<policy::GrpcStatus>(i);
    if (is_error(status)) errors.insert(policy::word(status));
  }
  EXPECT_EQ(errors, (std::set<std::string_view>{"unknown", "deadline_exceeded", "unimplemented", "internal",
                                                "unavailable", "data_loss"}));
  EXPECT_FALSE(is_error(std::nullopt));
}

TEST_F(OtlpJsonTest, M113_span_of_a_call_without_a_path_is_named_after_its_method) {
  ScriptedRequest request("call", "POST", "");
  request.attempt(telemetry::status(200), 5, telemetry::stop(Reason::success)).call(policy::GrpcStatus::ok);
  const json::array all = spans(story_of(request.ends(telemetry::Ending::complete, 200).record()));
  EXPECT_EQ(all[0].at("name").as_string(), "POST");
  EXPECT_TRUE(attributes(all[0]).contains("rpc.system=grpc"));
}

TEST_F(OtlpJsonTest, batch_can_contain_the_spans_of_many_requests) {
  ScriptedRequest request("plain", "GET", "/v1/x");
  request.attempt(telemetry::status(200), 12, telemetry::stop(Reason::success))
      .ends(telemetry::Ending::complete, 200);
  encoder_.begin();
  for (int i = 0; i < 100; ++i) encoder_.add(story_of(request.record()), 1);
  EXPECT_EQ(encoder_.spans(), 200U);
  const json::value whole = json::parse(encoder_.end());
  EXPECT_EQ(whole.at("resourceSpans").at(0).at("scopeSpans").at(0).at("spans").as_array().size(), 200U);
  encoder_.begin();
  EXPECT_EQ(encoder_.spans(), 0U);
}

}  // namespace
}  // namespace reprise::server
