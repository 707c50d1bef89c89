// Tests response heads in the syntax of old upstreams: they are accepted, normalised, and never passed on as
// received.
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

/// Returns the normalised head. Expects that the head is accepted.
string cleaned(const string& text) {
  const ReadResponse read(text);
  EXPECT_EQ(read.parsed, complete) << text;
  return string(read.head.clean.begin(), read.head.clean.end());
}

TEST(OldUpstreams, response_lines_ending_in_bare_lf_are_accepted) {
  const ReadResponse read("HTTP/1.1 404 Not Found\nServer: x\nContent-Length: 3\n\nabc");
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.status, 404);
  EXPECT_EQ(read.head.reason, "Not Found");
  ASSERT_EQ(read.head.fields.size(), 2U);
  EXPECT_EQ(read.head.fields[0].line, "Server: x\r\n");
  EXPECT_EQ(read.head.framing.kind, Framing::Kind::length);
  EXPECT_EQ(read.head.framing.length, 3U);
  EXPECT_TRUE(read.head.reusable);
  EXPECT_EQ(read.head.bytes, read.text.size() - 3) << "of what came";
  EXPECT_EQ(read.head.text(read.text), "HTTP/1.1 404 Not Found\r\nServer: x\r\nContent-Length: 3\r\n\r\n");
}

TEST(OldUpstreams, tolerated_response_heads_are_normalized) {
  const std::pair<string, string> cases[] = {
      {"HTTP/1.1 200\n\n", "HTTP/1.1 200\r\n\r\n"},
      {"HTTP/1.1 200 OK\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"},
      {"HTTP/1.1 200 OK\r\n\n", "HTTP/1.1 200 OK\r\n\r\n"},
      {"HTTP/1.1 200 OK\r\nA: 1\nB: 2\r\n\n", "HTTP/1.1 200 OK\r\nA: 1\r\nB: 2\r\n\r\n"},
      {"HTTP/1.1 103 \nLink: x\n\n", "HTTP/1.1 103 \r\nLink: x\r\n\r\n"},
      {"HTTP/1.1 101 X\nUpgrade: y\n\n", "HTTP/1.1 101 X\r\nUpgrade: y\r\n\r\n"},
      {"HTTP/1.2 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n"},
      {"HTTP/1.9 200 OK\nA: 1\n\n", "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n"},
      {"HTTP/1.0 200 OK\nA: 1\n\n", "HTTP/1.0 200 OK\r\nA: 1\r\n\r\n"},
      {ok("A: a\r\n b\r\n"), ok("A: a b\r\n")},
      {ok("A: a \t\r\n \t b \r\n\tc\r\nB: d\r\n"), ok("A: a b c\r\nB: d\r\n")},
      {ok("A:\r\n b\r\n"), ok("A: b\r\n")},
      {ok("A: a\r\n \r\n\t\r\n b\r\n"), ok("A: a b\r\n")},
      {ok("A: a\r\n \r\n"), ok("A: a\r\n")},
      {ok("A : a\n b\n"), ok("A : a b\r\n")},
      {"HTTP/1.1 200 OK\nConnection:      \n   close\n\n", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"}};
  for (const auto& [came, clean] : cases) EXPECT_EQ(cleaned(came), clean) << came;
  EXPECT_EQ(cleaned(ok("A: a\r\nB : b\r\n")), "") << "what is clean is not copied";
}

TEST(OldUpstreams, folded_field_value_is_unfolded_before_any_use) {
  const ReadResponse read(ok("Retry-After:\r\n 7\r\nConnection: keep-alive,\n close\nContent-Length: 0\r\n"));
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.find(FieldId::retry_after)->value, "7");
  EXPECT_EQ(read.head.fields[1].value, "keep-alive, close");
  EXPECT_FALSE(read.head.reusable) << "the close in the fold is heard";
}

TEST(OldUpstreams, ambiguous_folded_lines_are_rejected) {
  for (const string& text :
       {ok(" A: a\r\n"), ok("\tA: a\r\nB: b\r\n"), ok(" \r\nA: a\r\n"), string("HTTP/1.1 200 OK\n A: a\n\n"),
        ok("Content-Length:\r\n 5\r\n"), ok("Content-Length: 5\r\n \r\n"), ok("Content-Length: 5\n 5\n"),
        ok("Transfer-Encoding:\r\n chunked\r\n"), ok("Transfer-Encoding: chunked\r\n , identity\r\n")}) {
    EXPECT_EQ(response(text), Parsed{Rejection::obs_fold}) << text;
  }
}

TEST(OldUpstreams, heads_that_even_lenient_mode_does_not_tolerate_are_rejected) {
  const std::pair<string, Rejection> cases[] = {
      {"HTTP/1.1 200 O\rK\n\n", Rejection::bad_status_line},
      {"HTTP/1.1 200 OK\r\r\n\r\n", Rejection::bad_status_line},
      {"HTTP/2.0 200 OK\n\n", Rejection::bad_status_line},
      {"HTTP/1.1 2000\n\n", Rejection::bad_status},
      {"\nHTTP/1.1 200 OK\n\n", Rejection::bad_status_line},
      {"HTTP/1.1 200 OK\nA: a\rb\n\n", Rejection::bad_field_value},
      {"HTTP/1.1 200 OK\nA: a\r\r\n\n", Rejection::bad_field_value},
      {"HTTP/1.1 200 OK\nA: a\n b\x01\n\n", Rejection::bad_field_value},
      {"HTTP/1.1 200 OK\nA: a\n b\rc\n\n", Rejection::bad_field_value},
      {"HTTP/1.1 200 OK\nA: a\n\rX", Rejection::bad_field_name},
      {"HTTP/1.1 200 OK\nno colon\n\n", Rejection::bad_field_name},
      {"HTTP/1.1 200 OK\nA\n : b\n\n", Rejection::bad_field_name},
      {"HTTP/1.1 200 OK\nContent-Length : 1\n\n", Rejection::bad_field_name},
      {"HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2\n\n", Rejection::conflicting_content_length}};
  for (const auto& [text, cause] : cases) EXPECT_EQ(response(text), Parsed{cause}) << text;
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\nHost: h\n\n"), Parsed{Rejection::bad_request_line});
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\r\nHost: h\n\r\n"), Parsed{Rejection::bad_field_value});
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\r\nHost: h\r\n\n"), Parsed{Rejection::bad_field_name});
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\r\nHost: h\r\nA: a\r\n b\r\n\r\n"), Parsed{Rejection::obs_fold});
}

TEST(OldUpstreams, B12_truncated_lenient_head_is_never_complete) {
  for (const string text :
       {"HTTP/1.1 200 OK\nA: a\n b\nContent-Length: 5\n\n", "HTTP/1.2 200\r\nA: a\r\n\tb\n\r\n"}) {
    for (std::size_t length = 0; length < text.size(); ++length)
      EXPECT_EQ(response(text.substr(0, length)), partial) << text.substr(0, length);
    EXPECT_EQ(response(text), complete);
  }
}

TEST(OldUpstreams, identity_transfer_coding_is_ignored) {
  const auto framing = [](const string& lines) {
    const ReadResponse read(ok(lines));
    EXPECT_EQ(read.parsed, complete) << lines;
    return read.head.framing.kind;
  };
  using Kind = Framing::Kind;
  EXPECT_EQ(framing("Transfer-Encoding: identity\r\n"), Kind::until_close);
  EXPECT_EQ(framing("Transfer-Encoding: Identity\r\nContent-Length: 5\r\n"), Kind::length);
  EXPECT_EQ(framing("Transfer-Encoding: identity, Chunked\r\n"), Kind::chunked);
  EXPECT_EQ(framing("Transfer-Encoding: chunked ,identity\r\n"), Kind::chunked);
  EXPECT_EQ(framing("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), Kind::chunked);
  EXPECT_EQ(framing("Transfer-Encoding: identity, identity\r\nContent-Length: 0\r\n"), Kind::length);
  const ReadResponse counted(ok("Transfer-Encoding: identity\r\nContent-Length: 5\r\n"));
  EXPECT_TRUE(counted.head.reusable) << "nothing is left that contradicts the length";
  EXPECT_EQ(counted.head.find(FieldId::transfer_encoding), nullptr);
  EXPECT_TRUE(ReadResponse(ok("Transfer-Encoding: identity, chunked\r\n")).head.reusable);
  EXPECT_FALSE(
      ReadResponse(ok("Transfer-Encoding: identity, chunked\r\nContent-Length: 5\r\n")).head.reusable);
  EXPECT_EQ(response("HTTP/1.0 200 OK\r\nTransfer-Encoding: identity\r\n\r\n"), complete);
  EXPECT_EQ(response("HTTP/1.0 200 OK\r\nTransfer-Encoding: identity, chunked\r\n\r\n"), complete);
  for (const string value : {"identity,", ",identity", "identity;q=1", "identity, x",
                             "identity, chunked, chunked", "chunked, chunked", "", "identities"}) {
    EXPECT_EQ(response(ok("Transfer-Encoding: " + value + "\r\n")), Parsed{Rejection::bad_transfer_encoding})
        << value;
  }
  EXPECT_EQ(response(ok("Transfer-Encoding: identity, gzip\r\n")),
            Parsed{Rejection::unsupported_transfer_encoding});
  EXPECT_EQ(response(ok("Transfer-Encoding : identity\r\n")), Parsed{Rejection::bad_field_name});
}

string rewritten(const string& text, std::string_view method = "GET") {
  const ReadResponse read(text, method);
  EXPECT_EQ(read.parsed, complete) << text;
  ResponseRewrite rewrite;
  rewrite.via_pseudonym = "p";
  rewrite.date = "D";
  rewrite.chunked = read.head.framing.kind == Framing::Kind::chunked;
  string out;
  write_response_head(read.head, rewrite, out);
  return out;
}

TEST(OldUpstreams, forwarded_response_heads_are_normalized) {
  EXPECT_EQ(rewritten("HTTP/1.2 200 OK\nA: a\n\tb\nContent-Length: 05\nB : b\nDate: x\n\n"),
            "HTTP/1.1 200 OK\r\nA: a b\r\nB: b\r\nDate: x\r\nContent-Length: 5\r\nVia: 1.1 p\r\n\r\n");
  EXPECT_EQ(rewritten("HTTP/1.1 200 OK\nTransfer-Encoding: identity, CHUNKED\n\n"),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nDate: D\r\nVia: 1.1 p\r\n\r\n");
  EXPECT_EQ(rewritten("HTTP/1.1 200 OK\nTransfer-Encoding: identity\nContent-Length: 7\n\n", "HEAD"),
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nDate: D\r\nVia: 1.1 p\r\n\r\n");
}

TEST(OldUpstreams, head_limits_count_the_received_bytes_before_normalization) {
  const HeadLimits limits{256, 4, 1024};
  const string start = "HTTP/1.1 200 OK\n";
  const auto filled = [&](std::size_t bytes) {
    const string lines = start + "A: a\n b\nB: \n\n";
    return start + "A: a\n b\nB: " + string(bytes - lines.size(), 'x') + "\n\n";
  };
  EXPECT_EQ(response(filled(256), "GET", limits), complete) << "though it is longer once it is clean";
  EXPECT_EQ(response(filled(257), "GET", limits), Parsed{Rejection::header_too_large});
  EXPECT_EQ(response(start + "A: 1\n 2\n 3\n 4\n\n", "GET", limits), complete);
  EXPECT_EQ(response(start + "A: 1\n 2\n 3\n 4\n 5\n\n", "GET", limits), Parsed{Rejection::too_many_fields});
  EXPECT_EQ(response(start + "A: 1\n 2\nB: 3\nC: 4\nD: 5\n\n", "GET", limits),
            Parsed{Rejection::too_many_fields});
  string many;
  for (int i = 0; i < 200; ++i) many += "X-" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(response(start + many + "\n"), complete) << "200 field lines pass";
}

TEST(OldUpstreams, I1_parsing_a_lenient_head_byte_by_byte_takes_about_as_long_as_a_strict_head) {
  const auto seconds = [](const string& line_end, const string& next) {
    string text = "HTTP/1.1 200 OK" + line_end + "A: a" + line_end;
    for (int i = 0; i < 200; ++i) text += next + string(250, 'x') + line_end;
    text += line_end;
    ResponseHead head;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t length = 1; length < text.size(); ++length)
      EXPECT_EQ(parse_response(std::string_view(text).substr(0, length), {}, "GET", head), partial);
    EXPECT_EQ(parse_response(text, {}, "GET", head), complete);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double clean = seconds("\r\n", "X: ");
  EXPECT_LT(seconds("\n", "X: "), 10 * clean + 0.05);
  EXPECT_LT(seconds("\n", " "), 10 * clean + 0.05) << "folds";
}

TEST(OldUpstreams, views_of_a_response_head_stay_valid_after_it_is_moved) {
  ReadResponse read("HTTP/1.1 200 OK\nA: a\n\n");
  const ResponseHead moved = std::move(read.head);
  read.text.assign(read.text.size(), '?');
  EXPECT_EQ(moved.reason, "OK");
  EXPECT_EQ(moved.fields[0].line, "A: a\r\n");
}

TEST(OldUpstreams, reused_response_head_keeps_nothing_of_the_previous_one) {
  ResponseHead head;
  ASSERT_EQ(parse_response("HTTP/1.1 200 OK\nA: a\n\n", {}, "GET", head), complete);
  ASSERT_FALSE(head.clean.empty());
  const string text = ok("B: b\r\n");
  ASSERT_EQ(parse_response(text, {}, "GET", head), complete);
  EXPECT_TRUE(head.clean.empty());
  EXPECT_EQ(head.fields[0].line.data(), text.data() + 17);
}

}  // namespace
}  // namespace reprise::http
