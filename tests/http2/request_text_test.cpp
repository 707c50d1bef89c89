// Tests which HTTP/1 text the fields of an HTTP/2 request become, and that the text means the same.
#include "proxy/http/http2/request_text.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/http2/request_fields.hpp"
#include "proxy/http/message/intake.hpp"
#include "tests/http2/request_blocks.hpp"

namespace reprise::http {
namespace {

constexpr Block with_body{.end_stream = false};
constexpr Block absolute{.form = TargetForm::absolute};
constexpr Block trailer_section{.section = RequestText::Section::trailers};

/// Returns the head that a gateway sends for the text.
std::string sent_head(const std::string& text) {
  const HeadOfText read(text);
  EXPECT_TRUE(read.accepted) << text;
  const Intake intake = take_gateway(read.head, {.host = "up.test"});
  std::string out;
  write_request_head(read.head, std::get<Forward>(intake), {}, false, out);
  return out + "\r\n";
}

TEST(RequestText, M32_request_line_and_host_come_from_pseudo_fields_and_fields_keep_their_order) {
  const FieldList fields = {{":path", "/a?b=c"},     {":method", "GET"}, {":authority", "a.test:8080"},
                            {":scheme", "http"},     {"x-b", "2"},       {"x-a", "1"},
                            {"x-b", "\xc3\xa4 3"},   {"x-empty", ""},    {"accept", "*/*"},
                            {"proxy-custom", "a, b"}};
  const std::string lines =
      " HTTP/1.1\r\nHost: a.test:8080\r\nx-b: 2\r\nx-a: 1\r\nx-b: \xc3\xa4 3\r\nx-empty: \r\n"
      "accept: */*\r\nproxy-custom: a, b\r\n\r\n";
  EXPECT_EQ(text_of(fields), "GET /a?b=c" + lines);
  EXPECT_EQ(text_of(fields, absolute), "GET http://a.test:8080/a?b=c" + lines);
}

TEST(RequestText, scheme_is_part_of_the_absolute_form_only) {
  const FieldList fields = {
      {":method", "GET"}, {":scheme", "HTTPS"}, {":authority", "a.test"}, {":path", "/"}};
  EXPECT_EQ(text_of(fields, absolute), "GET https://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(text_of(fields), "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
}

TEST(RequestText, host_field_replaces_a_missing_authority_and_is_written_once) {
  const FieldList start = {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}};
  EXPECT_EQ(text_of(start + FieldList{{"a", "1"}, {"host", "b.test"}}, absolute),
            "GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\na: 1\r\n\r\n");
  for (const char* const same : {"a.test", "A.Test", "a.test:80", "a.test:"})
    EXPECT_EQ(text_of(head_of("GET") + FieldList{{"host", same}}), "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
}

TEST(RequestText, options_for_the_whole_server_has_both_target_forms) {
  const FieldList fields = {
      {":method", "OPTIONS"}, {":scheme", "http"}, {":authority", "a.test"}, {":path", "*"}};
  EXPECT_EQ(text_of(fields), "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n");
  const std::string text = text_of(fields, absolute);
  EXPECT_EQ(text, "OPTIONS http://a.test HTTP/1.1\r\nHost: a.test\r\n\r\n");
  const HeadOfText read(text);
  std::string out;
  write_request_head(read.head, std::get<Forward>(take_forward(read.head, {})), {}, false, out);
  EXPECT_EQ(out, "OPTIONS * HTTP/1.1\r\nHost: a.test\r\n") << "the upstream gets the same target";
}

TEST(RequestText, connect_has_its_authority_as_target_and_no_framing) {
  const FieldList fields = {{":method", "CONNECT"}, {":authority", "a.test:443"}, {"x", "1"}};
  for (const Block& block : {Block{}, absolute, with_body}) {
    const std::string text = text_of(fields, block);
    EXPECT_EQ(text, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nx: 1\r\n\r\n");
    const HeadOfText read(text);
    const Intake intake = take_forward(read.head, {{443, 443}});
    ASSERT_TRUE(std::holds_alternative<Connect>(intake));
    EXPECT_EQ(std::get<Connect>(intake).authority, "a.test:443");
  }
}

TEST(RequestText, M12_extended_connect_is_an_upgrade_request_without_a_body) {
  const FieldList pseudo = {{":method", "CONNECT"},
                            {":protocol", "WebSocket"},
                            {":scheme", "https"},
                            {":authority", "a.test"},
                            {":path", "/chat?a=1"}};
  const FieldList fields = pseudo + FieldList{{"sec-websocket-version", "13"},
                                              {"sec-websocket-key", "of the client"},
                                              {"cookie", "a=1"},
                                              {"origin", "https://b.test"},
                                              {"cookie", "b=2"}};
  const std::string rest =
      " HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
      "sec-websocket-version: 13\r\ncookie: a=1; b=2\r\norigin: https://b.test\r\n\r\n";
  for (const bool end_stream : {false, true}) {
    EXPECT_EQ(text_of(fields, {.end_stream = end_stream}), "GET /chat?a=1" + rest);
    EXPECT_EQ(text_of(fields, {.form = TargetForm::absolute, .end_stream = end_stream}),
              "GET https://a.test/chat?a=1" + rest);
  }
  const HeadOfText read(text_of(fields));
  ASSERT_TRUE(read.accepted);
  EXPECT_TRUE(asks_upgrade(read.head, ToH2c::dropped));
  EXPECT_FALSE(read.head.keep_alive());
}

TEST(RequestText, M12_lines_of_the_upgrade_count_towards_the_fields) {
  const FieldList fields = FieldList{{":protocol", "websocket"}, {":method", "CONNECT"}, {":scheme", "http"},
                                     {":authority", "a.test"},   {":path", "/"},         {"x", "1"}};
  EXPECT_FALSE(translate(fields, {.limits = {.fields = 5}}).rejection);
  EXPECT_EQ(translate(fields, {.limits = {.fields = 4}}).rejection, Rejection::too_many_fields);
}

TEST(RequestText, M46_cookies_are_joined_in_the_place_of_the_first_one) {
  EXPECT_EQ(text_of(head_of("GET") + FieldList{{"a", "1"},
                                               {"cookie", "x=1"},
                                               {"b", "2"},
                                               {"cookie", "y=2; z=3"},
                                               {"cookie", ""},
                                               {"c", "3"},
                                               {"cookie", "w=4"}}),
            "GET / HTTP/1.1\r\nHost: a.test\r\na: 1\r\ncookie: x=1; y=2; z=3; w=4\r\nb: 2\r\nc: 3\r\n\r\n");
  EXPECT_EQ(text_of(head_of("GET") + FieldList{{"cookie", ""}}),
            "GET / HTTP/1.1\r\nHost: a.test\r\ncookie: \r\n\r\n");
}

TEST(RequestText, M46_crumbs_count_as_one_field_and_their_bytes_count_each) {
  FieldList fields = head_of("GET");
  for (int i = 0; i < 90; ++i) fields.emplace_back("cookie", "c=1");
  for (int i = 0; i < 15; ++i) fields.emplace_back("x", "1");
  // The pseudo-fields without the value of `:path`, the cookies, and the other fields.
  constexpr std::size_t bytes =
      (7 + 3 + 32) + (7 + 4 + 32) + (10 + 6 + 32) + (5 + 32) + 90 * (6 + 3 + 32) + 15 * (1 + 1 + 32);
  constexpr std::size_t host_cookie_and_others = 1 + 1 + 15;
  Block block{.limits = {.bytes = bytes, .fields = host_cookie_and_others}};
  EXPECT_FALSE(translate(fields, block).rejection);
  --block.limits.bytes;
  EXPECT_EQ(translate(fields, block).rejection, Rejection::header_too_large);
  block.limits = {.fields = host_cookie_and_others - 1};
  EXPECT_EQ(translate(fields, block).rejection, Rejection::too_many_fields);
  EXPECT_EQ(translate(fields, block).text, "");
}

TEST(RequestText, M96_each_limit_has_its_own_cause) {
  const FieldList head = head_of("POST");
  const FieldList three = head + FieldList{{"a", "1"}, {"b", "2"}, {"c", "3"}};
  EXPECT_EQ(translate(three, {.limits = {.fields = 3}}).rejection, Rejection::too_many_fields);
  EXPECT_FALSE(translate(head, {.limits = {.fields = 2}}).rejection) << "Host and Content-Length";
  EXPECT_EQ(translate(head, {.limits = {.fields = 1}}).rejection, Rejection::too_many_fields);
  FieldList long_path = head;
  long_path[3].second = "/" + std::string(999, 'p');
  EXPECT_FALSE(translate(long_path, {.limits = {.bytes = 300, .target_bytes = 1000}}).rejection);
  EXPECT_EQ(translate(long_path, {.limits = {.target_bytes = 999}}).rejection, Rejection::target_too_long);
  const Block longer{.form = TargetForm::absolute, .limits = {.target_bytes = 1012}};
  EXPECT_EQ(translate(long_path, longer).rejection, Rejection::target_too_long) << "http://a.test";
  for (const std::size_t bytes : {400U, 450U, 500U, 550U}) {
    const Block block{.end_stream = false, .limits = {.bytes = bytes}};
    const Translation made = translate(head + FieldList{{"x", std::string(280, 'v')}}, block);
    EXPECT_EQ(made.rejection.has_value(), bytes < 484) << bytes;
    EXPECT_EQ(HeadOfText(made.text, block.limits).accepted, !made.rejection) << bytes;
  }
}

TEST(RequestText, M35_body_without_length_is_chunked_and_a_missing_body_has_length_0) {
  const FieldList length = {{"content-length", "5"}};
  EXPECT_EQ(sent_head(text_of(head_of("POST") + length, with_body)),
            "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 5\r\n\r\n");
  for (const char* const method : {"GET", "POST", "DELETE"})
    EXPECT_EQ(sent_head(text_of(head_of(method), with_body)),
              std::string(method) + " / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (const char* const method : {"POST", "PUT", "PATCH"})
    EXPECT_EQ(sent_head(text_of(head_of(method))),
              std::string(method) + " / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n");
  for (const char* const method : {"GET", "HEAD", "DELETE", "OPTIONS", "QUERY"})
    EXPECT_EQ(sent_head(text_of(head_of(method))),
              std::string(method) + " / HTTP/1.1\r\nHost: a.test\r\n\r\n");
  EXPECT_EQ(sent_head(text_of(head_of("GET") + FieldList{{"content-length", "0"}})),
            "GET / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n");
}

TEST(RequestText, M34_te_trailers_reaches_both_versions_of_upstreams) {
  const std::string text = text_of(head_of("POST") + FieldList{{"te", "trailers"}}, with_body);
  const std::string head = sent_head(text);
  EXPECT_EQ(head,
            "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\nConnection: "
            "TE\r\n\r\n");
  FieldBlock block;
  write_request_fields(head, "http", block);
  EXPECT_EQ(lines_of(block),
            (Lines{":method=POST", ":scheme=http", ":authority=a.test", ":path=/", "te=trailers"}));
}

TEST(RequestText, accepted_text_is_one_head_with_the_same_meaning) {
  const FieldList ordinary = {{"x-1", "a, b; c=\"d\""}, {"x-2", "\t"}, {"via", "2.0 x"}, {"x-2", "\xff"}};
  FieldList fields = {{":method", "M-SEARCH"},
                      {":scheme", "https"},
                      {":authority", "[::1]:8443"},
                      {":path", "//a/%20?x=http://b/&y=\xc3\xa4"}};
  for (const auto& field : ordinary) {
    if (field.second != "\t") fields.push_back(field);
  }
  for (const TargetForm form : {TargetForm::origin, TargetForm::absolute}) {
    const std::string text = text_of(fields, {.form = form, .end_stream = false});
    const HeadOfText read(text);
    ASSERT_TRUE(read.accepted) << text;
    EXPECT_EQ(read.head.method, "M-SEARCH");
    const std::string prefix = form == TargetForm::origin ? "" : "https://[::1]:8443";
    EXPECT_EQ(read.head.target, prefix + "//a/%20?x=http://b/&y=\xc3\xa4");
    EXPECT_EQ(read.head.framing.kind, Framing::Kind::chunked);
    FieldList seen;
    for (const FieldLine& field : read.head.fields) seen.emplace_back(field.name, field.value);
    EXPECT_EQ(seen, (FieldList{{"Host", "[::1]:8443"},
                               {"x-1", "a, b; c=\"d\""},
                               {"via", "2.0 x"},
                               {"x-2", "\xff"},
                               {"Transfer-Encoding", "chunked"}}));
  }
}

TEST(RequestText, trailers_become_lines_without_fields_that_belong_in_a_head) {
  EXPECT_EQ(text_of({{"x-sum", "7"}, {"host", "b.test"}, {"authorization", "x"}, {"y", ""}}, trailer_section),
            "x-sum: 7\r\ny: \r\n");
}

TEST(RequestText, M47_fields_that_arrived_never_indexed_are_sent_as_never_indexed) {
  RequestText request(TargetForm::origin);
  request.begin(RequestText::Section::head, {});
  for (const auto& [name, value] : head_of("GET")) request.add(name, value, name == ":path");
  const std::string long_value(100, 'v');
  request.add("x-token", long_value, true);
  request.add("x-other", long_value);
  for (const bool never_indexed : {false, true, true})
    request.add("cookie", "c=" + long_value, never_indexed);
  ASSERT_FALSE(request.end(true));
  EXPECT_EQ(request.never_indexed(), ":path,x-token,cookie");
  FieldBlock block;
  const std::string head = sent_head(request.text());
  write_request_fields(head, "http", block, request.never_indexed());
  Lines sensitive;
  for (const Field& field : block.fields) {
    if (field.sensitive) sensitive.emplace_back(field.name);
  }
  EXPECT_EQ(sensitive, (Lines{":path", "x-token", "cookie"}));
  request.begin(RequestText::Section::head, {});
  EXPECT_EQ(request.never_indexed(), "");
}

TEST(RequestText, block_after_a_rejected_block_starts_from_nothing) {
  RequestText request(TargetForm::origin);
  request.begin(RequestText::Section::head, {});
  request.add(":status", "200");
  request.add("cookie", "a=1");
  EXPECT_EQ(request.end(true), Rejection::bad_request_line);
  EXPECT_EQ(request.text(), "");
  request.begin(RequestText::Section::head, {});
  for (const auto& [name, value] : head_of("GET")) request.add(name, value);
  EXPECT_FALSE(request.end(true));
  EXPECT_EQ(request.text(), "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
}

}  // namespace
}  // namespace reprise::http
