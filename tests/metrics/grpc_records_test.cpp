// Tests what log lines and metrics report of gRPC calls.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "proxy/policy/match/grpc_pattern.hpp"
#include "proxy/telemetry/log/grpc_call.hpp"
#include "proxy/telemetry/log/json_line.hpp"
#include "proxy/telemetry/log/text_line.hpp"
#include "proxy/telemetry/metrics/metrics.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry::grpc_records_test {
namespace {

namespace json = boost::json;
using config::LogPath;
using policy::GrpcStatus;
using policy::Reason;

ScriptedRequest played(const std::string& name) {
  for (const ScriptedRequest& each : all_stories()) {
    if (each.name() == name) return each;
  }
  throw std::invalid_argument(name);
}

json::object line_of(const std::string& name, Dialect dialect, LogPath path = LogPath::full) {
  const ScriptedRequest request = played(name);
  Line line;
  write_json_line(request.record(), "orders", path, line, dialect);
  return json::parse(line.view()).as_object();
}

std::string text_of(const ScriptedRequest& request) {
  std::string out;
  write_text_line(request.record(), "orders", LogPath::full, LogReader::journal, out);
  return out;
}

TEST(CallName, M107_service_and_method_are_the_two_parts_of_the_path) {
  const policy::CallName name = policy::call_name("/shop.v1.Orders/Get");
  EXPECT_EQ(name.service, "shop.v1.Orders");
  EXPECT_EQ(name.method, "Get");
  for (const std::string_view path : {"", "/", "//", "/a", "/a/", "//b", "a/b", "/a/b/c", "/a//"})
    EXPECT_TRUE(policy::call_name(path).service.empty() && policy::call_name(path).method.empty()) << path;
}

TEST(GrpcLine, M107_json_line_has_the_call_and_the_status_of_each_attempt) {
  const json::object line = line_of("call_recovered", Dialect::own);
  EXPECT_EQ(line.at("grpc"),
            (json::object{{"service", "shop.v1.Orders"}, {"method", "Get"}, {"status", "ok"}}));
  EXPECT_EQ(line.at("status").as_int64(), 200);
  const json::array& attempts = line.at("attempts").as_array();
  EXPECT_EQ(attempts[0].at("status").as_int64(), 200);
  EXPECT_EQ(attempts[0].at("grpc"), "unavailable");
  EXPECT_FALSE(attempts[1].as_object().contains("grpc"));
}

TEST(GrpcLine, M107_call_without_a_status_has_none_in_its_line) {
  EXPECT_EQ(line_of("call_cut", Dialect::own).at("grpc"),
            (json::object{{"service", "shop.v1.Orders"}, {"method", "Get"}}));
  EXPECT_FALSE(line_of("call_cut", Dialect::otel).contains("rpc.grpc.status_code"));
}

TEST(GrpcLine, M107_service_and_method_are_left_out_if_the_route_replaces_the_path) {
  EXPECT_EQ(line_of("call_recovered", Dialect::own, LogPath::route).at("grpc"),
            (json::object{{"status", "ok"}}));
  EXPECT_EQ(line_of("call_cut", Dialect::own, LogPath::route).at("grpc"), json::object());
  const json::object flat = line_of("call_recovered", Dialect::otel, LogPath::route);
  EXPECT_EQ(flat.at("rpc.system"), "grpc");
  EXPECT_FALSE(flat.contains("rpc.service") || flat.contains("rpc.method"));
}

TEST(GrpcLine, M107_otel_line_uses_the_semantic_conventions) {
  const json::object line = line_of("call_exhausted", Dialect::otel);
  EXPECT_EQ(line.at("rpc.system"), "grpc");
  EXPECT_EQ(line.at("rpc.service"), "shop.v1.Orders");
  EXPECT_EQ(line.at("rpc.method"), "Get");
  EXPECT_EQ(line.at("rpc.grpc.status_code").as_int64(), 14);
  EXPECT_EQ(line.at("error.type"), "unavailable");
  EXPECT_EQ(line.at("reprise.attempt_list").at(0).at("rpc.grpc.status_code").as_int64(), 14);
  EXPECT_FALSE(line_of("call_not_found", Dialect::otel).contains("error.type"));
}

TEST(GrpcLine, M107_other_requests_have_no_members_about_grpc) {
  for (const Dialect dialect : {Dialect::own, Dialect::otel}) {
    const ScriptedRequest request = played("recovered");
    Line line;
    write_json_line(request.record(), "api", LogPath::full, line, dialect);
    EXPECT_EQ(line.view().find("rpc"), std::string_view::npos) << line.view();
  }
}

TEST(GrpcLine, M107_text_line_shows_the_status_of_the_call) {
  EXPECT_EQ(text_of(played("call_recovered")),
            "POST orders.internal:8080/shop.v1.Orders/Get grpc ok in 73ms  grpc unavailable ~60ms~ 200  "
            "recovered\n");
  EXPECT_EQ(text_of(played("call_not_found")),
            "POST orders.internal:8080/shop.v1.Orders/Get grpc not_found in 3.0ms  not_retryable\n");
  EXPECT_EQ(text_of(played("call_cut")),
            "POST orders.internal:8080/shop.v1.Orders/Get 200 in 8.0ms  response_started  cut\n");
  EXPECT_EQ(status_text(503, GrpcStatus::unavailable), "503 grpc unavailable");
}

TEST(GrpcLine, M107_record_of_an_exhausted_call_has_its_last_status) {
  const ScriptedRequest request = played("call_exhausted");
  std::string own, otel, text;
  write_exhausted_json(request.record(), "orders", LogPath::full, Dialect::own, own);
  EXPECT_EQ(json::parse(own).at("last_grpc"), "unavailable");
  write_exhausted_json(request.record(), "orders", LogPath::full, Dialect::otel, otel);
  EXPECT_EQ(json::parse(otel).at("rpc.grpc.status_code").as_int64(), 14);
  write_exhausted_text(request.record(), "orders", LogPath::full, LogReader::journal, text);
  EXPECT_NE(text.find("last grpc unavailable"), std::string::npos) << text;
}

class GrpcMetrics : public testing::Test {
 protected:
  std::string value(const std::string& series) {
    const std::string text = "\n" + metrics_.text();
    const std::size_t at = text.find("\n" + series + " ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + series.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  const std::vector<std::string> routes_{"api", "orders"};
  const std::vector<std::string_view> rejections_{"bad"};
  Metrics metrics_{routes_, rejections_, "1"};
};

TEST_F(GrpcMetrics, M108_calls_are_counted_by_the_status_that_the_client_got) {
  for (const ScriptedRequest& each : all_stories()) metrics_.count(each.record());
  const auto calls = [this](const std::string& status) {
    return value("reprise_grpc_requests_total{route=\"orders\",status=\"" + status + "\"}");
  };
  for (const char* status : {"ok", "unavailable", "not_found", "internal", "none"})
    EXPECT_EQ(calls(status), "1");
  EXPECT_EQ(calls("cancelled"), "");
  EXPECT_EQ(metrics_.text().find("reprise_grpc_requests_total{route=\"api\""), std::string::npos);
}

TEST_F(GrpcMetrics, M108_every_status_has_its_label) {
  for (std::size_t i = 0; i < policy::grpc_status_count; ++i) {
    const auto status = static_cast<GrpcStatus>(i);
    ScriptedRequest request("call", "POST", "/a.B/C");
    metrics_.count(request.call(status).ends(Ending::complete, 200).record());
    EXPECT_EQ(value("reprise_grpc_requests_total{route=\"api\",status=\"" +
                    std::string(policy::word(status)) + "\"}"),
              "1");
  }
}

TEST_F(GrpcMetrics, M108_attempt_with_a_failed_status_has_the_outcome_grpc) {
  metrics_.count(played("call_recovered").record());
  EXPECT_EQ(value("reprise_attempts_total{route=\"orders\",outcome=\"grpc\"}"), "1");
  EXPECT_EQ(value("reprise_attempts_total{route=\"orders\",outcome=\"2xx\"}"), "1");
}

TEST(GrpcRecord, M108_only_a_call_that_ended_ok_counts_as_recovered) {
  const auto recovered = [](std::optional<GrpcStatus> status) {
    ScriptedRequest request("call", "POST", "/a.B/C");
    request.attempt(call_status(GrpcStatus::unavailable), 1, {true, {}, Reason::retryable_status})
        .attempt(telemetry::status(200), 1, stop(Reason::success))
        .call(status);
    return is_recovered(request.ends(Ending::complete, 200).record());
  };
  EXPECT_TRUE(recovered(GrpcStatus::ok));
  EXPECT_FALSE(recovered(GrpcStatus::internal));
  EXPECT_FALSE(recovered(GrpcStatus::not_found));
  EXPECT_FALSE(recovered(std::nullopt));
}

}  // namespace
}  // namespace reprise::telemetry::grpc_records_test
