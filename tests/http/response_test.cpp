// Tests the framing guard on responses: the client never sees a broken message as a complete one.
#include <gtest/gtest.h>

#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;
using namespace std::string_literals;

TEST(Response, plain_response_is_accepted_with_all_its_fields) {
  const ReadResponse read("HTTP/1.1 404 Not  Found\r\nServer: x\r\nContent-Length: 3\r\n\r\nabc");
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.status, 404);
  EXPECT_EQ(read.head.reason, "Not  Found");
  EXPECT_EQ(read.head.framing.kind, Framing::Kind::length);
  EXPECT_EQ(read.head.framing.length, 3U);
  EXPECT_TRUE(read.head.reusable);
  EXPECT_EQ(read.head.bytes, read.text.size() - 3);
}

TEST(Response, chunked_overrides_content_length_and_prevents_connection_reuse) {
  for (const string lines : {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                             "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"}) {
    const ReadResponse read(ok(lines));
    ASSERT_EQ(read.parsed, complete);
    EXPECT_EQ(read.head.framing.kind, Framing::Kind::chunked);
    EXPECT_FALSE(read.head.reusable);
  }
  EXPECT_TRUE(ReadResponse(ok("Transfer-Encoding: Chunked\r\n")).head.reusable);
}

TEST(Response, ambiguous_response_framing_is_rejected) {
  EXPECT_EQ(response(ok("Content-Length: 5\r\nContent-Length: 6\r\n")),
            Parsed{Rejection::conflicting_content_length});
  EXPECT_EQ(response(ok("Content-Length: 5, 6\r\n")), Parsed{Rejection::bad_content_length});
  EXPECT_EQ(response(ok("Content-Length: -1\r\n")), Parsed{Rejection::bad_content_length});
  EXPECT_EQ(response(ok("Transfer-Encoding: xchunked\r\n")), Parsed{Rejection::bad_transfer_encoding});
  EXPECT_EQ(response(ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
            Parsed{Rejection::bad_transfer_encoding});
  EXPECT_EQ(response(ok("Transfer-Encoding: gzip, chunked\r\n")),
            Parsed{Rejection::unsupported_transfer_encoding});
  EXPECT_EQ(response(ok("X: a\x01\r\n")), Parsed{Rejection::bad_field_value});
  EXPECT_EQ(response(ok("X Y: a\r\n")), Parsed{Rejection::bad_field_name});
}

TEST(Response, N24_chunked_http_1_0_response_is_read_without_connection_reuse) {
  for (const string more : {"", "Connection: keep-alive\r\n"}) {
    const ReadResponse old("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n" + more + "\r\n");
    ASSERT_EQ(old.parsed, complete) << more;
    EXPECT_EQ(old.head.framing.kind, Framing::Kind::chunked);
    EXPECT_FALSE(old.head.reusable);
  }
  EXPECT_EQ(response("HTTP/1.0 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
            Parsed{Rejection::unsupported_transfer_encoding});
}

TEST(Response, N21_three_digit_statuses_above_599_are_accepted) {
  for (const int status : {600, 783, 999}) {
    const ReadResponse read("HTTP/1.1 " + std::to_string(status) + " Odd\r\nContent-Length: 0\r\n\r\n");
    ASSERT_EQ(read.parsed, complete) << status;
    EXPECT_EQ(read.head.status, status);
  }
}

TEST(Response, equal_repeated_content_lengths_count_as_one) {
  for (const string lines :
       {"Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: 05\r\n"}) {
    const ReadResponse read(ok(lines));
    ASSERT_EQ(read.parsed, complete) << lines;
    EXPECT_EQ(read.head.framing.length, 5U);
    EXPECT_TRUE(read.head.reusable);
  }
}

TEST(Response, response_without_length_ends_when_the_connection_closes) {
  const ReadResponse read(ok("Server: x\r\n"));
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.framing.kind, Framing::Kind::until_close);
  EXPECT_FALSE(read.head.reusable);
}

TEST(Response, head_connect_1xx_204_and_304_responses_have_no_body) {
  const auto kind = [](const string& text, std::string_view method) {
    const ReadResponse read(text, method);
    EXPECT_EQ(read.parsed, complete) << text;
    EXPECT_TRUE(read.head.reusable) << text;
    return read.head.framing.kind;
  };
  EXPECT_EQ(kind(ok("Content-Length: 5\r\n"), "HEAD"), Framing::Kind::none);
  EXPECT_EQ(kind(ok("Transfer-Encoding: chunked\r\n"), "HEAD"), Framing::Kind::none);
  EXPECT_EQ(kind(ok(""), "HEAD"), Framing::Kind::none);
  EXPECT_EQ(kind("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "GET"), Framing::Kind::none);
  EXPECT_EQ(kind("HTTP/1.1 204 No Content\r\n\r\n", "GET"), Framing::Kind::none);
  EXPECT_EQ(kind("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "GET"), Framing::Kind::none);
  EXPECT_EQ(kind(ok("Content-Length: 5\r\n"), "CONNECT"), Framing::Kind::none);
  EXPECT_EQ(kind("HTTP/1.1 502 Bad\r\nContent-Length: 5\r\n\r\n", "CONNECT"), Framing::Kind::length);
}

TEST(Response, B1_1xx_and_204_with_framing_fields_prevent_connection_reuse) {
  for (const string start : {"HTTP/1.1 100 Continue\r\n", "HTTP/1.1 204 No Content\r\n"}) {
    for (const string lines : {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n",
                               "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"}) {
      const ReadResponse read(start + lines + "\r\n");
      ASSERT_EQ(read.parsed, complete) << start << lines;
      EXPECT_EQ(read.head.framing.kind, Framing::Kind::none);
      EXPECT_FALSE(read.head.reusable);
    }
  }
}

TEST(Response, connection_reuse_follows_version_and_connection_field) {
  EXPECT_FALSE(ReadResponse(ok("Content-Length: 0\r\nConnection: close\r\n")).head.reusable);
  EXPECT_FALSE(ReadResponse(ok("Content-Length: 0\r\nConnection: foo, Close\r\n")).head.reusable);
  EXPECT_FALSE(ReadResponse("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").head.reusable);
  EXPECT_TRUE(
      ReadResponse("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n").head.reusable);
}

TEST(Response, B7_blank_before_the_colon_is_tolerated_except_in_framing_fields) {
  const ReadResponse read(ok("X-Odd : v\r\nY\t:w\r\nContent-Length: 1\r\n"));
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.fields[0].name, "X-Odd");
  EXPECT_EQ(read.head.fields[0].value, "v");
  EXPECT_EQ(response(ok("Content-Length : 1\r\n")), Parsed{Rejection::bad_field_name});
  EXPECT_EQ(response(ok("Transfer-Encoding\t: chunked\r\n")), Parsed{Rejection::bad_field_name});
}

TEST(Response, B8_status_line_without_a_reason_is_accepted_and_malformed_status_lines_are_rejected) {
  const ReadResponse bare("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n");
  ASSERT_EQ(bare.parsed, complete);
  EXPECT_EQ(bare.head.status, 200);
  EXPECT_EQ(bare.head.reason, "");
  EXPECT_EQ(response("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"), complete);
  EXPECT_EQ(response("HTTP/1.1 599 \xc3\xa9\r\n\r\n"), complete);
  for (const string start : {"HTTP/1.1 099 X", "HTTP/1.1 1000 X", "HTTP/1.1 2xx X", "HTTP/1.1 20 X",
                             "HTTP/1.1  200 X", "HTTP/1.1 000 X"}) {
    EXPECT_EQ(response(start + "\r\n\r\n"), Parsed{Rejection::bad_status}) << start;
  }
  for (const string start : {"HTTP/2.0 200 OK", "HTTP/1.10 200 OK", "http/1.1 200 OK", "<html>", "ICY 200 OK",
                             "\r\nHTTP/1.1 200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200\tOK",
                             "HTTP/1.1 200 O\x01K", "SSH-2.0-OpenSSH"}) {
    EXPECT_EQ(response(start + "\r\n\r\n"), Parsed{Rejection::bad_status_line}) << start;
  }
}

TEST(Response, B8_bytes_that_cannot_be_a_response_are_rejected_at_once) {
  EXPECT_EQ(response("<"), Parsed{Rejection::bad_status_line});
  EXPECT_EQ(response("HTTP/1.1 2"), partial);
}

TEST(Response, B12_truncated_head_is_never_complete) {
  const string text = ok("Content-Length: 5\r\n");
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_EQ(response(text.substr(0, length)), partial) << length;
  }
}

TEST(Response, response_head_limits_are_enforced) {
  HeadLimits limits;
  limits.bytes = 128;
  limits.fields = 2;
  EXPECT_EQ(response(ok("A: 1\r\nB: 2\r\nC: 3\r\n"), "GET", limits), Parsed{Rejection::too_many_fields});
  EXPECT_EQ(response(ok("A: " + string(128, 'a') + "\r\n"), "GET", limits),
            Parsed{Rejection::header_too_large});
  EXPECT_EQ(response("HTTP/1.1 200 " + string(128, 'a'), "GET", limits), Parsed{Rejection::header_too_large});
}

TEST(Response, B14_thousand_cookies_are_accepted_if_the_field_limit_allows) {
  string lines;
  for (int i = 0; i < 1000; ++i) lines += "Set-Cookie: a=" + std::to_string(i) + "\r\n";
  EXPECT_EQ(response(ok(lines)), Parsed{Rejection::too_many_fields});
  HeadLimits limits;
  limits.fields = 1024;
  const ReadResponse read(ok(lines), "GET", limits);
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.fields.size(), 1000U);
}

TEST(Response, malformed_connection_field_of_a_response_still_honors_close) {
  const ReadResponse read(ok("Content-Length: 0\r\nConnection: keep-alive; x, close\r\n"));
  ASSERT_EQ(read.parsed, complete);
  EXPECT_FALSE(read.head.reusable);
}

}  // namespace
}  // namespace reprise::http
