// Tests that Beast parses each head a second time, after the framing guard. Here the two get different texts,
// as if the guard had misread the head. Such a head must be rejected.
#include "proxy/http/http1/beast_check.hpp"

#include <gtest/gtest.h>

#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;
using Opinion = std::optional<Rejection>;

/// Returns Beast's verdict on the head `shown` after the framing guard has accepted another head,
/// `understood`.
Opinion on_request(const string& understood, const string& shown) {
  RequestHead head;
  EXPECT_EQ(guard_request(understood, {}, head), complete) << understood;
  head.bytes = shown.size();
  return second_opinion(shown, head);
}

Opinion on_response(const string& understood, const string& shown, std::string_view method = "GET") {
  ResponseHead head;
  Oddities oddities;
  EXPECT_EQ(guard_response(understood, {}, method, head, oddities), complete) << understood;
  EXPECT_FALSE(oddities.any()) << understood;
  head.bytes = shown.size();
  return second_opinion(head, shown, method, oddities);
}

TEST(SecondOpinion, beast_check_agrees_with_correctly_parsed_messages) {
  for (const string& text :
       {get(""), get("Connection: close\r\n"), post("Content-Length: 5\r\n"), post("Content-Length: 0\r\n"),
        post("Transfer-Encoding: chunked\r\n"), string("GET / HTTP/1.0\r\n\r\n")}) {
    EXPECT_EQ(on_request(text, text), std::nullopt) << text;
  }
  for (const string& text :
       {ok(""), ok("Content-Length: 5\r\n"), ok("Content-Length: 0\r\n"),
        ok("Transfer-Encoding: chunked\r\n"), ok("Content-Length: 0\r\nConnection: close\r\n"),
        string("HTTP/1.1 204 X\r\n\r\n")}) {
    EXPECT_EQ(on_response(text, text), std::nullopt) << text;
  }
}

TEST(SecondOpinion, beast_check_reports_the_defect_of_a_malformed_request) {
  const std::pair<string, Rejection> malformed[] = {
      {"G(T / HTTP/1.1\r\nHost: h\r\n\r\n", Rejection::bad_method},
      {"GET  HTTP/1.1\r\nHost: h\r\n\r\n", Rejection::bad_target},
      {"GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n", Rejection::bad_target},
      {"GET / HTTP/1.2\r\nHost: h\r\n\r\n", Rejection::bad_version},
      {get("X Y: z\r\n"), Rejection::bad_field_name},
      {get("X: a\x01\r\n"), Rejection::bad_field_value},
      {get("Connection: a b\r\n"), Rejection::bad_field_value},
      {get("Content-Length: x\r\n"), Rejection::bad_content_length},
      {get("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), Rejection::bad_content_length},
      {get("Content-Length: 5\r\nContent-Length: 6\r\n"), Rejection::conflicting_content_length},
      {get("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), Rejection::bad_transfer_encoding},
      {get("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), Rejection::bad_transfer_encoding},
      {"GET / HTTP/1.1\r\nHost: h\r\n\rX", Rejection::bad_request_line},
      {"GET / HTTP/1.1\r\nHost: h\r\n", Rejection::bad_request_line},
      {"", Rejection::bad_request_line}};
  for (const auto& [text, cause] : malformed) EXPECT_EQ(on_request(get(""), text), cause) << text;
}

TEST(SecondOpinion, beast_check_rejects_a_different_request_line_or_field_count) {
  for (const string text :
       {"PUT http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", "GET http://i/ HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET http://h/ HTTP/1.0\r\nHost: h\r\n\r\n", "GET http://h/ HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\n",
        "GET http://h/ HTTP/1.1\r\n\r\n"}) {
    EXPECT_EQ(on_request(get(""), text), Rejection::bad_request_line) << text;
  }
}

TEST(SecondOpinion, beast_check_rejects_bytes_after_the_parsed_head) {
  EXPECT_EQ(on_request(get(""), get("") + "X"), Rejection::bad_request_line);
  EXPECT_EQ(on_request(get(""), get("") + get("")), Rejection::bad_request_line);
  EXPECT_EQ(on_response(ok(""), ok("") + "X"), Rejection::bad_status_line);
  EXPECT_EQ(on_response(ok(""), ok("") + ok("")), Rejection::bad_status_line);
}

TEST(SecondOpinion, beast_check_rejects_different_request_framing) {
  const string none = get("X: 1\r\n");
  const string five = get("Content-Length: 5\r\n");
  const string six = get("Content-Length: 6\r\n");
  const string chunked = get("Transfer-Encoding: chunked\r\n");
  for (const string& understood : {none, five, six, chunked}) {
    for (const string& shown : {none, five, six, chunked}) {
      const Opinion expected = understood == shown ? Opinion{} : Rejection::bad_content_length;
      EXPECT_EQ(on_request(understood, shown), expected) << understood << shown;
    }
  }
}

TEST(SecondOpinion, beast_check_rejects_keep_alive_if_beast_sees_close) {
  const string close = get("Connection: close\r\n");
  const string stay = get("Connection: x\r\n");
  EXPECT_EQ(on_request(stay, close), Rejection::bad_field_value);
  EXPECT_EQ(on_request(close, stay), std::nullopt) << "to end it is never wrong";
  const string response_close = ok("Content-Length: 0\r\nConnection: close\r\n");
  const string response_stay = ok("Content-Length: 0\r\nConnection: x\r\n");
  EXPECT_EQ(on_response(response_stay, response_close), Rejection::bad_field_value);
  EXPECT_EQ(on_response(response_close, response_stay), std::nullopt) << "to end it is never wrong";
}

TEST(SecondOpinion, beast_check_reports_the_defect_of_a_malformed_response) {
  const std::pair<string, Rejection> malformed[] = {
      {"HTTP/2.0 200 OK\r\n\r\n", Rejection::bad_version},
      {"HTTP/1.1 2x0 OK\r\n\r\n", Rejection::bad_status},
      {"HTTP/1.1 200 O\x01K\r\n\r\n", Rejection::bad_status_line},
      {ok("X Y: z\r\n"), Rejection::bad_field_name},
      {ok("X: a\x01\r\n"), Rejection::bad_field_value},
      {ok("Content-Length: 5,\r\n"), Rejection::bad_content_length},
      {ok("Content-Length: 5, 6\r\n"), Rejection::conflicting_content_length},
      {ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), Rejection::bad_transfer_encoding},
      {"HTTP/1.1 200 OK\r\n", Rejection::bad_status_line},
      {"", Rejection::bad_status_line}};
  for (const auto& [text, cause] : malformed) EXPECT_EQ(on_response(ok(""), text), cause) << text;
}

TEST(SecondOpinion, beast_check_rejects_a_different_status) {
  EXPECT_EQ(on_response(ok(""), "HTTP/1.1 201 OK\r\n\r\n"), Rejection::bad_status_line);
  EXPECT_EQ(on_response("HTTP/1.1 204 X\r\n\r\n", "HTTP/1.1 304 X\r\n\r\n"), Rejection::bad_status_line);
}

TEST(SecondOpinion, beast_check_rejects_different_response_framing) {
  const string until_close = ok("X: 1\r\n");
  const string empty = ok("Content-Length: 0\r\n");
  const string five = ok("Content-Length: 5\r\n");
  const string six = ok("Content-Length: 6\r\n");
  const string chunked = ok("Transfer-Encoding: chunked\r\n");
  for (const string& understood : {until_close, empty, five, six, chunked}) {
    for (const string& shown : {until_close, empty, five, six, chunked}) {
      const Opinion expected = understood == shown ? Opinion{} : Rejection::bad_content_length;
      EXPECT_EQ(on_response(understood, shown), expected) << understood << shown;
    }
  }
}

/// Returns Beast's verdict on a text if the framing guard has found the framing `framing` for it.
Opinion with_framing(const Framing& framing, const string& text, std::string_view method = "GET") {
  ResponseHead head;
  Oddities oddities;
  EXPECT_EQ(guard_response(text, {}, method, head, oddities), complete) << text;
  head.framing = framing;
  return second_opinion(head, text, method, oddities);
}

TEST(SecondOpinion, beast_check_rejects_disagreement_on_whether_there_is_a_body) {
  const Framing none{Framing::Kind::none, 0};
  const Framing empty{Framing::Kind::length, 0};
  const Framing five{Framing::Kind::length, 5};
  const Framing chunked{Framing::Kind::chunked, 0};
  const string with_five = ok("Content-Length: 5\r\n");
  EXPECT_EQ(with_framing(none, with_five), Rejection::bad_content_length);
  EXPECT_EQ(with_framing(five, with_five, "HEAD"), Rejection::bad_content_length);
  EXPECT_EQ(with_framing(five, "HTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\n"), Rejection::bad_content_length);
  EXPECT_EQ(with_framing(chunked, "HTTP/1.1 204 X\r\n\r\n"), Rejection::bad_content_length);
  EXPECT_EQ(with_framing(empty, "HTTP/1.1 204 X\r\n\r\n"), Rejection::bad_content_length);
  EXPECT_EQ(with_framing(none, with_five, "HEAD"), std::nullopt);
  EXPECT_EQ(with_framing(five, with_five), std::nullopt);
}

TEST(SecondOpinion, connect_response_has_a_body_only_if_it_is_not_2xx) {
  const string opened = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
  const string refused = "HTTP/1.1 300 X\r\nContent-Length: 5\r\n\r\n";
  EXPECT_EQ(with_framing({Framing::Kind::none, 0}, opened, "CONNECT"), std::nullopt);
  EXPECT_EQ(with_framing({Framing::Kind::length, 5}, refused, "CONNECT"), std::nullopt);
  EXPECT_EQ(with_framing({Framing::Kind::none, 0}, refused, "CONNECT"), Rejection::bad_content_length);
}

TEST(SecondOpinion, tolerated_odd_responses_pass_the_beast_check) {
  for (const string& text :
       {string("HTTP/1.1 200\r\nX : y\r\nContent-Length: 0\r\n\r\n"),
        ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        ok("Content-Length: 0\r\nConnection: keep-alive; x\r\n"),
        ok("Content-Length: 0\r\nProxy-Connection: a b\r\nX: y\r\n"),
        string("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nProxy-Connection: keep-alive, a b\r\n\r\n")}) {
    EXPECT_EQ(response(text), complete) << text;
  }
}

}  // namespace
}  // namespace reprise::http
