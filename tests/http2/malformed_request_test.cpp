// Tests that every malformed HTTP/2 request of rows M49 to M52 is rejected, and with which cause.
#include <gtest/gtest.h>

#include "tests/http2/request_blocks.hpp"

namespace reprise::http {
namespace {

using namespace std::string_literals;

void expect_rejected(const FieldList& fields, Rejection cause, const Block& block = {}) {
  for (const TargetForm form : {TargetForm::origin, TargetForm::absolute}) {
    Block shaped = block;
    shaped.form = form;
    const Translation made = translate(fields, shaped);
    EXPECT_EQ(made.rejection, cause) << testing::PrintToString(fields);
    EXPECT_EQ(made.text, "") << testing::PrintToString(fields);
  }
}

/// Replaces the value of one pseudo-field of `fields`.
FieldList changed(FieldList fields, const std::string& name, const std::string& value) {
  for (auto& field : fields) {
    if (field.first == name) field.second = value;
  }
  return fields;
}
FieldList changed(const std::string& name, const std::string& value) {
  return changed(head_of("GET"), name, value);
}

FieldList without(const std::string& name) {
  FieldList fields = head_of("GET");
  std::erase_if(fields, [&name](const auto& field) { return field.first == name; });
  return fields;
}

FieldList with(const FieldList& fields) { return head_of("GET") + fields; }

TEST(MalformedRequest, request_that_the_cases_change_is_accepted) {
  EXPECT_FALSE(translate(head_of("GET")).rejection);
  EXPECT_FALSE(translate(with({{"x", "a b\tc"}, {"te", "trailers"}, {"content-length", "0"}})).rejection);
}

TEST(MalformedRequest, M49_line_ends_and_nul_are_rejected_in_every_name_and_value) {
  for (const std::string& byte : {"\r"s, "\n"s, "\0"s, "\r\n"s}) {
    expect_rejected(with({{"x", "a" + byte + "b"}}), Rejection::bad_field_value);
    expect_rejected(with({{"x" + byte + "y", "1"}}), Rejection::bad_field_name);
    expect_rejected(with({{"cookie", "a=1" + byte}}), Rejection::bad_field_value);
    expect_rejected(with({{"host", "a" + byte + "b"}}), Rejection::bad_field_value);
    expect_rejected(changed(":path", "/a" + byte + "b"), Rejection::bad_target);
    expect_rejected(changed(":method", "GE" + byte + "T"), Rejection::bad_method);
    expect_rejected(changed(":authority", "a" + byte + "b"), Rejection::bad_authority);
    expect_rejected(changed(":scheme", "http" + byte), Rejection::bad_scheme);
    expect_rejected({{":pa" + byte + "th", "/"}}, Rejection::bad_request_line);
    expect_rejected(changed(":path", "/ HTTP/1.1" + byte + "x: y"), Rejection::bad_target);
  }
}

TEST(MalformedRequest, M49_blank_at_either_end_of_a_value_is_rejected) {
  for (const char* const value : {" a", "a ", "\ta", "a\t", " ", "\t"}) {
    for (const char* const name : {"x", "cookie", "host", "content-length", "te"})
      expect_rejected(with({{name, value}}), Rejection::bad_field_value);
  }
}

TEST(MalformedRequest, M49_name_with_an_invalid_byte_or_without_a_byte_is_rejected) {
  for (const std::string& name : {"X"s, "xY"s, "x y"s, " x"s, "x "s, "x\t"s, "x:"s, "x:y"s, "x\x01"s,
                                  "x\x7f"s, "x\x80"s, "\xc3\xa4"s, "x(y"s, ""s})
    expect_rejected(with({{name, "1"}}), Rejection::bad_field_name);
  expect_rejected(with({{"x", "\x01"}}), Rejection::bad_field_value);
  expect_rejected(with({{"x", "a\x7f"}}), Rejection::bad_field_value);
}

TEST(MalformedRequest, M49_lookalikes_of_framing_fields_are_rejected) {
  expect_rejected(with({{"transfer_encoding", "chunked"}}), Rejection::lookalike_framing_field);
  expect_rejected(with({{"content_length", "5"}}), Rejection::lookalike_framing_field);
  expect_rejected(with({{"Transfer_Encoding", "chunked"}}), Rejection::bad_field_name);
  expect_rejected(with({{"Content_Length", "5"}}), Rejection::bad_field_name);
}

TEST(MalformedRequest, M50_fields_of_one_http_1_connection_are_rejected) {
  expect_rejected(with({{"transfer-encoding", "chunked"}}), Rejection::bad_transfer_encoding);
  for (const char* const name : {"connection", "keep-alive", "proxy-connection", "upgrade"})
    expect_rejected(with({{name, "x"}}), Rejection::bad_field_name);
  for (const char* const value : {"", "gzip", "trailers, gzip", "trailers;q=1", "chunked"})
    expect_rejected(with({{"te", value}}), Rejection::bad_field_value);
}

TEST(MalformedRequest, M50_content_length_is_one_number) {
  for (const char* const value : {"+5", "-5", "5,5", "5, 5", "", "0x5", "5 5", "a", "12345678901234567890"})
    expect_rejected(with({{"content-length", value}}), Rejection::bad_content_length, {.end_stream = false});
  for (const char* const second : {"5", "6", "05"})
    expect_rejected(with({{"content-length", "5"}, {"content-length", second}}),
                    Rejection::conflicting_content_length, {.end_stream = false});
}

TEST(MalformedRequest, M50_host_that_is_repeated_missing_or_another_than_the_authority_is_rejected) {
  for (const char* const host : {"b.test", "a.test:81", "a.test:443", "x.a.test", "", "a.test, a.test",
                                 "u@a.test", "a.test/", "http://a.test"})
    expect_rejected(with({{"host", host}}), Rejection::bad_host);
  expect_rejected(changed(":scheme", "https") + FieldList{{"host", "a.test:80"}}, Rejection::bad_host);
  expect_rejected(with({{"host", "a.test"}, {"host", "a.test"}}), Rejection::repeated_host);
  expect_rejected(without(":authority") + FieldList{{"host", "a"}, {"host", "a"}}, Rejection::repeated_host);
  expect_rejected(without(":authority"), Rejection::missing_host);
}

TEST(MalformedRequest, M51_missing_repeated_unknown_or_late_pseudo_field_is_rejected) {
  for (const char* const name : {":method", ":scheme", ":path"})
    expect_rejected(without(name), Rejection::bad_request_line);
  for (const auto& field : head_of("GET")) expect_rejected(with({field}), Rejection::bad_request_line);
  for (const char* const name : {":status", ":other", ":", ":protocol", ":Method"})
    expect_rejected(with({{name, "200"}}), Rejection::bad_request_line);
  for (const auto& late : head_of("GET"))
    expect_rejected(without(late.first) + FieldList{{"x", "1"}, late}, Rejection::bad_request_line);
  expect_rejected({}, Rejection::bad_request_line);
  expect_rejected({{"x", "1"}}, Rejection::bad_request_line);
}

TEST(MalformedRequest, M51_pseudo_field_in_trailers_is_rejected) {
  for (const char* const name : {":method", ":scheme", ":authority", ":path", ":status", ":protocol"})
    expect_rejected({{"x", "1"}, {name, "a"}}, Rejection::bad_trailer,
                    {.section = RequestText::Section::trailers});
}

TEST(MalformedRequest, M51_path_of_another_form_is_rejected) {
  for (const char* const path : {"", "a", "*", "/a b", " /", "/ ", "/a#b", "#", "http://a.test/",
                                 "https:", "?a", "/\x7f", "/\x01", "**"})
    expect_rejected(changed(":path", path), Rejection::bad_target);
  for (const char* const path : {"", "**", "*a", "a"})
    expect_rejected(changed(head_of("OPTIONS"), ":path", path), Rejection::bad_target);
}

TEST(MalformedRequest, M51_authority_that_is_not_host_and_port_is_rejected) {
  for (const char* const authority : {"u@a.test", "u:p@a.test", "@"})
    expect_rejected(changed(":authority", authority), Rejection::userinfo_in_authority);
  for (const char* const authority : {"", "a b", " a", "a ", "a/", "a/b", "/", "a:b", "a:0", "a:65536", "a,b",
                                      "[::1", "a?b", "a#b", "http://a"})
    expect_rejected(changed(":authority", authority), Rejection::bad_authority);
}

TEST(MalformedRequest, M51_method_that_is_not_a_token_is_rejected) {
  for (const char* const method : {"", "GE T", " GET", "GET ", "GET\t", "G(T", "G:T", "\xc3\xa4"})
    expect_rejected(changed(":method", method), Rejection::bad_method);
  expect_rejected(changed(":method", std::string(33, 'M')), Rejection::method_too_long);
  EXPECT_FALSE(translate(changed(":method", std::string(32, 'M'))).rejection);
}

TEST(MalformedRequest, scheme_other_than_http_and_https_is_rejected) {
  for (const char* const scheme : {"", "ftp", "ws", "httpx", "http:", "http://"})
    expect_rejected(changed(":scheme", scheme), Rejection::bad_scheme);
}

TEST(MalformedRequest, M51_connect_has_an_authority_and_no_other_target) {
  const FieldList connect = {{":method", "CONNECT"}, {":authority", "a.test:443"}};
  EXPECT_FALSE(translate(connect).rejection);
  expect_rejected(connect + FieldList{{":scheme", "https"}}, Rejection::bad_request_line);
  expect_rejected(connect + FieldList{{":path", "/"}}, Rejection::bad_request_line);
  expect_rejected(changed(":method", "CONNECT"), Rejection::bad_request_line);
  expect_rejected({{":method", "CONNECT"}, {"host", "a.test:443"}}, Rejection::bad_request_line);
}

TEST(MalformedRequest, M12_extended_connect_has_every_pseudo_field_once_and_no_length) {
  const FieldList extended = FieldList{{":protocol", "websocket"}} + changed(":method", "CONNECT");
  EXPECT_FALSE(translate(extended).rejection);
  for (std::size_t missing = 1; missing < extended.size(); ++missing) {
    FieldList fields = extended;
    fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(missing));
    fields.emplace_back("host", "a.test");
    expect_rejected(fields, Rejection::bad_request_line);
  }
  for (const auto& field : extended)
    expect_rejected(extended + FieldList{field}, Rejection::bad_request_line);
  for (const char* const length : {"0", "5"})
    expect_rejected(extended + FieldList{{"content-length", length}}, Rejection::connect_with_body,
                    {.end_stream = false});
  for (const char* const protocol : {"", "web socket", "websocket\r\nx: y", "websocket, other"})
    expect_rejected(changed(extended, ":protocol", protocol), Rejection::bad_request_line);
  expect_rejected(changed(extended, ":path", "*"), Rejection::bad_target);
  expect_rejected(changed(extended, ":path", "/ HTTP/1.1\r\nx: y"), Rejection::bad_target);
  expect_rejected(changed(extended, ":scheme", "ws"), Rejection::bad_scheme);
  expect_rejected(extended + FieldList{{"upgrade", "websocket"}}, Rejection::bad_field_name);
  expect_rejected({{":protocol", "websocket"}}, Rejection::bad_request_line);
}

TEST(MalformedRequest, M52_length_of_a_body_that_does_not_follow_is_rejected) {
  for (const char* const length : {"1", "5", "9999999999999999999"})
    expect_rejected(with({{"content-length", length}}), Rejection::conflicting_content_length);
  EXPECT_FALSE(translate(with({{"content-length", "00"}})).rejection);
}

TEST(MalformedRequest, M52_trailers_that_do_not_end_the_request_are_rejected) {
  expect_rejected({{"x", "1"}}, Rejection::bad_trailer,
                  {.end_stream = false, .section = RequestText::Section::trailers});
}

TEST(MalformedRequest, M50_framing_fields_and_fields_of_a_connection_in_trailers_are_rejected) {
  const Block trailers{.section = RequestText::Section::trailers};
  expect_rejected({{"content-length", "5"}}, Rejection::bad_content_length, trailers);
  expect_rejected({{"transfer-encoding", "chunked"}}, Rejection::bad_transfer_encoding, trailers);
  expect_rejected({{"connection", "x"}}, Rejection::bad_field_name, trailers);
  expect_rejected({{"x", "a\nb"}}, Rejection::bad_field_value, trailers);
}

TEST(MalformedRequest, M49_field_that_the_decoder_finds_invalid_is_rejected) {
  for (const auto& [name, cause] :
       {std::pair{"X", Rejection::bad_field_name}, std::pair{"x", Rejection::bad_field_value}}) {
    RequestText request(TargetForm::origin);
    request.begin(RequestText::Section::head, {});
    for (const auto& [pseudo, value] : head_of("GET")) request.add(pseudo, value);
    request.refuse(name, "1");
    EXPECT_EQ(request.end(true), cause);
    EXPECT_EQ(request.text(), "");
  }
}

}  // namespace
}  // namespace reprise::http
