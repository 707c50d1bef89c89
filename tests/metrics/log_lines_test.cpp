#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <ctime>
#include <stdexcept>
#include <string>

#include "proxy/telemetry/log/access_log.hpp"
#include "proxy/telemetry/log/json_line.hpp"
#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"
#include "tests/metrics/golden.hpp"
#include "tests/support/own_variable.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry {
namespace {

using config::LogPath;

std::string route_name(std::size_t index) { return index == 0 ? "api" : "orders"; }

enum class Form { json, otel, text, colour };

LineForm line_form(Form form) {
  if (form == Form::json) return LineForm::json;
  return form == Form::otel ? LineForm::otel : LineForm::text;
}

std::string lines(const ScriptedRequest& story, Form form, LogPath path) {
  const ExchangeRecord record = story.record();
  const std::string route = route_name(record.route);
  std::string out;
  if (form == Form::json || form == Form::otel) {
    Line line;
    write_json_line(record, route, path, line, form == Form::json ? Dialect::own : Dialect::otel);
    out = line.view();
  } else {
    write_text_line(record, route, path, form == Form::colour ? LogReader::terminal : LogReader::stream, out);
  }
  if (is_exhausted(record.ledger->reason)) {
    write_exhausted_line(record, route, path, line_form(form), LogReader::stream, out);
  }
  return out;
}

std::string all_lines(Form form, LogPath path) {
  std::string out;
  for (const ScriptedRequest& story : all_stories()) out += lines(story, form, path);
  return out;
}

ScriptedRequest story(const std::string& name) {
  for (const ScriptedRequest& each : all_stories()) {
    if (each.name() == name) return each;
  }
  throw std::invalid_argument(name);
}

boost::json::object parsed(const ScriptedRequest& of) {
  Line line;
  write_json_line(of.record(), route_name(of.record().route), LogPath::full, line);
  return boost::json::parse(line.view()).as_object();
}

class LogLines : public testing::Test {
 protected:
  LogLines() { tzset(); }

  play::OwnVariable zone_{"TZ", "UTC0"};
};

TEST_F(LogLines, json_lines_match_the_golden_file) {
  expect_golden("access.jsonl", all_lines(Form::json, LogPath::full));
}

TEST_F(LogLines, otel_lines_match_the_golden_file) {
  expect_golden("access_otel.jsonl", all_lines(Form::otel, LogPath::full));
}

TEST_F(LogLines, json_lines_log_the_route_instead_of_the_path_if_configured) {
  const std::string text = all_lines(Form::json, LogPath::route);
  EXPECT_EQ(text.find("/v1/"), std::string::npos);
  expect_golden("access_route.jsonl", text);
}

TEST_F(LogLines, text_lines_match_the_golden_file) {
  expect_golden("access.txt", all_lines(Form::text, LogPath::full));
}

TEST_F(LogLines, text_lines_log_the_route_instead_of_the_path_if_configured) {
  const std::string text = all_lines(Form::text, LogPath::route);
  EXPECT_EQ(text.find("/v1/"), std::string::npos);
}

TEST_F(LogLines, coloured_lines_match_the_golden_file) {
  expect_golden("access_colour.txt", all_lines(Form::colour, LogPath::full));
}

TEST_F(LogLines, text_line_shows_attempts_and_waits) {
  EXPECT_EQ(lines(story("recovered"), Form::text, LogPath::full),
            "10:03:12 GET api.internal/v1/x 200 in 812ms  503 ~120ms~ reset ~340ms~ 200  recovered\n");
}

TEST_F(LogLines, text_line_shows_local_time) {
  zone_.set("EST5");
  tzset();
  EXPECT_EQ(lines(story("plain"), Form::text, LogPath::full).substr(0, 9), "05:03:12 ");
}

TEST_F(LogLines, every_json_line_is_one_json_object) {
  for (const ScriptedRequest& each : all_stories()) {
    const std::string text = lines(each, Form::json, LogPath::full);
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = text.find('\n', begin);
      ASSERT_NE(end, std::string::npos) << each.name();
      boost::json::error_code error;
      const auto value = boost::json::parse(text.substr(begin, end - begin), error);
      ASSERT_FALSE(error) << each.name() << ": " << error.message();
      EXPECT_TRUE(value.is_object());
      EXPECT_EQ(value.at("time").as_string(), "2026-01-02T10:03:12.345Z");
      begin = end + 1;
    }
  }
}

TEST_F(LogLines, json_line_contains_every_attempt_with_its_outcome) {
  const auto line = parsed(story("recovered"));
  EXPECT_EQ(line.at("reason").as_string(), "success");
  EXPECT_EQ(line.at("ms").as_double(), 812);
  EXPECT_EQ(line.at("trace_id").as_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
  const auto& attempts = line.at("attempts").as_array();
  ASSERT_EQ(attempts.size(), 3U);
  EXPECT_EQ(attempts[0].at("status").as_int64(), 503);
  EXPECT_EQ(attempts[1].at("stage").as_string(), "await_head");
  EXPECT_EQ(attempts[1].at("error").as_string(), "reset");
  EXPECT_EQ(attempts[1].at("wait_ms").as_double(), 120);
  EXPECT_TRUE(attempts[1].at("reused").as_bool());
  EXPECT_EQ(attempts[1].at("reason").as_string(), "retryable_failure");
  EXPECT_EQ(attempts[2].at("wait_ms").as_double(), 340);
}

TEST_F(LogLines, json_status_is_null_if_no_status_was_sent) {
  const auto line = parsed(story("client_gone"));
  EXPECT_TRUE(line.at("status").is_null());
  EXPECT_EQ(line.at("ending").as_string(), "client_gone");
}

TEST_F(LogLines, json_members_ambiguous_and_tunnel_are_present_only_if_true) {
  EXPECT_TRUE(parsed(story("ambiguous")).at("ambiguous").as_bool());
  EXPECT_TRUE(parsed(story("tunnel")).at("tunnel").as_bool());
  EXPECT_EQ(parsed(story("tunnel")).at("carried").as_string(), "tls");
  EXPECT_FALSE(parsed(story("plain")).contains("carried"));
  EXPECT_FALSE(parsed(story("plain")).contains("ambiguous"));
  EXPECT_FALSE(parsed(story("plain")).contains("tunnel"));
  EXPECT_FALSE(parsed(story("plain")).contains("request_id"));
}

TEST_F(LogLines, line_lists_only_the_first_and_last_of_many_attempts) {
  const auto line = parsed(story("patient"));
  EXPECT_EQ(line.at("attempts").as_array().size(), 32U);
  EXPECT_EQ(line.at("attempts_left_out").as_int64(), 8);
  EXPECT_EQ(line.at("attempts").as_array()[23].at("n").as_int64(), 24);
  EXPECT_EQ(line.at("attempts").as_array()[24].at("n").as_int64(), 33);
  EXPECT_EQ(line.at("attempts").as_array()[31].at("n").as_int64(), 40);
}

TEST_F(LogLines, logged_url_has_the_scheme_used_to_reach_the_upstream) {
  ExchangeRecord record;
  record.host = "a.test";
  record.path = "/x";
  const auto url = [&](std::uint16_t port, bool over_tls) {
    record.port = port;
    record.over_tls = over_tls;
    return url_of(record, "r", LogPath::full);
  };
  EXPECT_EQ(url(80, false), "http://a.test/x");
  EXPECT_EQ(url(443, false), "http://a.test:443/x");
  EXPECT_EQ(url(443, true), "https://a.test/x");
  EXPECT_EQ(url(80, true), "https://a.test:80/x");
  record.host = "::1";
  EXPECT_EQ(url(8080, false), "http://[::1]:8080/x");
}

TEST_F(LogLines, exhausted_record_names_the_request_and_its_last_error_and_the_limit) {
  const ScriptedRequest exhausted = story("out_of_time");
  std::string out;
  write_exhausted_line(exhausted.record(), "orders", LogPath::full, LineForm::json, LogReader::stream, out);
  const auto line = boost::json::parse(out).as_object();
  EXPECT_EQ(line.at("level").as_string(), "error");
  EXPECT_EQ(line.at("method").as_string(), "PUT");
  EXPECT_EQ(line.at("url").as_string(), "http://orders.internal:8080/v1/orders/18");
  EXPECT_EQ(line.at("attempts").as_int64(), 1);
  EXPECT_EQ(line.at("elapsed_ms").as_double(), 59000);
  EXPECT_EQ(line.at("last_error").as_string(), "attempt_timeout");
  EXPECT_EQ(line.at("limit").as_string(), "deadline_too_near");
}

TEST_F(LogLines, H8_hostile_values_produce_one_short_line_without_control_characters) {
  for (const Form form : {Form::json, Form::text}) {
    const std::string line = lines(story("hostile"), form, LogPath::full);
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    EXPECT_LT(line.size(), 2000U);
    for (const char each : line.substr(0, line.size() - 1)) {
      EXPECT_TRUE(static_cast<unsigned char>(each) >= 0x20 && each != 0x7f);
    }
    EXPECT_EQ(line.find("\xe2\x80\xae"), std::string::npos) << "a bidirectional override";
    EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos) << "a C1 control";
  }
  const auto line = parsed(story("hostile"));
  EXPECT_EQ(line.at("method").as_string(), "GE\"T\x1b[31m");
  EXPECT_EQ(line.at("host").as_string().size(), 256U);
  EXPECT_EQ(line.at("request_id").as_string(), std::string("id\"\n\x01\0x", 7));
}

std::string json(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

TEST(JsonText, invisible_and_bidirectional_characters_are_escaped) {
  EXPECT_EQ(json("a\xe2\x80\x8b\xef\xbb\xbf"), R"("a\u200b\ufeff")") << "of no width";
  EXPECT_EQ(json("\xd8\x9c\xe2\x80\xae"), R"("\u061c\u202e")") << "of direction";
  EXPECT_EQ(json("\xc2\xad\xe1\xa0\x8e"), R"("\u00ad\u180e")") << "a soft hyphen, a vowel separator";
  EXPECT_EQ(json("\xf3\xa0\x81\xa1"), R"("\udb40\udc61")") << "a tag, as a pair of surrogates";
  EXPECT_EQ(json("\xc2\xae\xf3\xa0\x82\x80"), "\"\xc2\xae\xf3\xa0\x82\x80\"") << "beside them";
}

TEST(JsonText, invalid_utf8_is_replaced_byte_by_byte) {
  EXPECT_EQ(json("a\xff"
                 "b"),
            R"("a\ufffdb")");
  EXPECT_EQ(json("\xc0\xaf"), R"("\ufffd\ufffd")") << "overlong";
  EXPECT_EQ(json("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")") << "surrogate";
  EXPECT_EQ(json("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")") << "above U+10FFFF";
  EXPECT_EQ(json("\xe2\x82"), R"("\ufffd\ufffd")") << "ends early";
  EXPECT_EQ(json("\xe2\x82\xac \xf0\x9f\x98\x80"), "\"\xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(JsonText, every_byte_is_preserved_or_replaced) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    std::string json;
    append_json(json, text);
    const auto back = boost::json::parse(json);
    EXPECT_EQ(back.as_string(), byte < 0x80 ? text : "\xef\xbf\xbd") << byte;
  }
}

TEST(JsonText, truncated_text_never_ends_within_a_utf8_character) {
  EXPECT_EQ(clipped(std::string(256, 'a')).size(), 256U);
  EXPECT_EQ(clipped(std::string(257, 'a')).size(), 256U);
  EXPECT_EQ(clipped(std::string(255, 'a') + "\xc3\xa9").size(), 255U);
  EXPECT_EQ(clipped(std::string(253, 'a') + "\xf0\x9f\x98\x80").size(), 253U);
  EXPECT_EQ(clipped(std::string(300, '\x80')).size(), 253U) << "no characters at all";
}

}  // namespace
}  // namespace reprise::telemetry
