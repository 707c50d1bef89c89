// Tests outgoing heads: lines that stay unchanged, lines removed at this hop, and lines that the proxy adds.
#include "proxy/http/http1/rewrite.hpp"

#include <gtest/gtest.h>

#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

string rewrite(const string& text, std::string_view prefix = "", bool keep_upgrade = false) {
  const ReadRequest read(text);
  EXPECT_EQ(read.parsed, complete) << text;
  Intake intake = take_forward(read.head, {});
  string joined, out;
  put_below(prefix, std::get<Forward>(intake).target, joined);
  write_request_head(read.head, std::get<Forward>(intake), "reprise-x1", keep_upgrade, out);
  return out;
}

string rewrite_gateway(const string& text, std::string_view prefix, std::string_view authority) {
  const ReadRequest read(text);
  EXPECT_EQ(read.parsed, complete) << text;
  Intake intake = take_gateway(read.head, {"up", 80, false, authority});
  string joined, out;
  put_below(prefix, std::get<Forward>(intake).target, joined);
  write_request_head(read.head, std::get<Forward>(intake), "reprise-x1", false, out);
  return out;
}

/// Returns the outgoing head of a plain GET for http://h/ with these lines after Host.
string sent(const string& lines) {
  return "GET / HTTP/1.1\r\nHost: h\r\n" + lines + "Via: 1.1 reprise-x1\r\n";
}

ResponseRewrite ours() {
  ResponseRewrite rewrite;
  rewrite.via_pseudonym = "reprise-x1";
  rewrite.date = "Sun, 06 Nov 1994 08:49:37 GMT";
  return rewrite;
}

const string date_line = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
const string via_line = "Via: 1.1 reprise-x1\r\n";

string response(const string& text, const ResponseRewrite& rewrite, std::string_view method = "GET") {
  const ReadResponse read(text, method);
  EXPECT_EQ(read.parsed, complete) << text;
  string out;
  write_response_head(read.head, rewrite, out);
  return out;
}

TEST(Rewrite, A10_head_of_a_chunked_request_can_be_rewritten_with_a_content_length) {
  string head = rewrite(
      "PUT http://h/ HTTP/1.1\r\nHost: h\r\nA: 1\r\nTransfer-Encoding: chunked\r\ntrailer: X\r\n"
      "B: Transfer-Encoding: chunked\r\n\r\n");
  frame_by_length(18446744073709551615U, head);
  EXPECT_EQ(head,
            "PUT / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: Transfer-Encoding: chunked\r\n"
            "Content-Length: 18446744073709551615\r\nVia: 1.1 reprise-x1\r\n");
  head += "\r\n";
  const string whole = head;
  frame_by_length(5, head);
  EXPECT_EQ(head, whole) << "one that has a length keeps it";
}

TEST(Rewrite, J7_blanks_around_a_field_value_are_forwarded) {
  const string lines = "Idempotency-Key: \t abc \t \r\nX:\tb\r\n";
  EXPECT_EQ(rewrite(get(lines)), sent(lines));
}

TEST(Rewrite, ordinary_fields_are_forwarded_unchanged_and_in_order) {
  const string lines =
      "x-lower:v\r\nX-Blank:  a  b \t\r\nEmpty:\r\nTwice: 1\r\nAuthorization: S  x\r\nTwice: 2\r\ncafe: "
      "\xc3\xa9\r\n";
  EXPECT_EQ(rewrite(get(lines)), sent(lines));
}

TEST(Rewrite, A3_to_A17_framing_fields_are_regenerated) {
  EXPECT_EQ(rewrite(post("Content-Length:  5\r\nX: y\r\ncontent-length: 5\r\n")),
            "POST / HTTP/1.1\r\nHost: h\r\nX: y\r\nContent-Length: 5\r\n" + via_line);
  EXPECT_EQ(rewrite(post("X: y\r\ntransfer-encoding:\tchunked \r\nTrailer: Z\r\n")),
            "POST / HTTP/1.1\r\nHost: h\r\nX: y\r\nTrailer: Z\r\nTransfer-Encoding: chunked\r\n" + via_line);
  EXPECT_EQ(rewrite(get("Content-Length: 0\r\n")), sent("Content-Length: 0\r\n"));
}

TEST(Rewrite, M36_trailer_field_is_kept_beside_a_length_only_for_clients_of_http_2) {
  ReadRequest read(post("Content-Length: 5\r\nTrailer: Z\r\n"));
  for (const bool over_http2 : {false, true}) {
    read.head.over_http2 = over_http2;
    string out;
    write_request_head(read.head, std::get<Forward>(take_forward(read.head, {})), "", false, out);
    EXPECT_EQ(out, string("POST / HTTP/1.1\r\nHost: h\r\n") + (over_http2 ? "Trailer: Z\r\n" : "") +
                       "Content-Length: 5\r\n");
    ResponseRewrite rewrite = ours();
    rewrite.over_http2 = over_http2;
    const string sent_back = response(ok("Content-Length: 5\r\nTrailer: Z\r\n"), rewrite);
    EXPECT_EQ(sent_back.find("Trailer: Z\r\n") != string::npos, over_http2) << sent_back;
  }
}

TEST(Rewrite, A1_leading_zeros_of_content_length_are_removed) {
  EXPECT_EQ(rewrite(get("Content-Length: 007\r\n")), sent("Content-Length: 7\r\n"));
}

TEST(Rewrite, request_target_becomes_origin_form_with_the_gateway_prefix) {
  const auto line = [](const string& method, const string& target, std::string_view prefix = "") {
    const string out = rewrite(method + " " + target + " HTTP/1.1\r\nHost: h\r\n\r\n", prefix);
    return out.substr(0, out.find('\r'));
  };
  EXPECT_EQ(line("GET", "http://h"), "GET / HTTP/1.1");
  EXPECT_EQ(line("GET", "http://h?q"), "GET /?q HTTP/1.1");
  EXPECT_EQ(line("GET", "http://h/a%2fb/%zz?{x}|\"\xc3\xa9"), "GET /a%2fb/%zz?{x}|\"\xc3\xa9 HTTP/1.1");
  EXPECT_EQ(line("OPTIONS", "http://h"), "OPTIONS * HTTP/1.1");
  EXPECT_EQ(line("OPTIONS", "http://h/"), "OPTIONS / HTTP/1.1");
  EXPECT_EQ(line("OPTIONS", "http://h?q"), "OPTIONS /?q HTTP/1.1");
  EXPECT_EQ(line("OPTIONS", "http://h", "/base"), "OPTIONS /base/ HTTP/1.1")
      << "that is not the whole server";
  EXPECT_EQ(line("GET", "http://h/a", "/base"), "GET /base/a HTTP/1.1");
  EXPECT_EQ(line("GET", "http://h/a", "/base/"), "GET /base/a HTTP/1.1");
  EXPECT_EQ(line("GET", "http://h?q", "/base"), "GET /base/?q HTTP/1.1");
}

TEST(Rewrite, gateway_replaces_or_keeps_the_host_field) {
  EXPECT_EQ(rewrite_gateway("GET /a HTTP/1.1\r\nX: y\r\nHost: client\r\nZ: z\r\n\r\n", "/v1", "up:81"),
            "GET /v1/a HTTP/1.1\r\nHost: up:81\r\nX: y\r\nZ: z\r\n" + via_line);
  EXPECT_EQ(rewrite_gateway("GET /a HTTP/1.1\r\nX: y\r\nHost: client\r\n\r\n", "", ""),
            "GET /a HTTP/1.1\r\nX: y\r\nHost: client\r\n" + via_line);
  EXPECT_EQ(rewrite_gateway("OPTIONS * HTTP/1.1\r\nHost: c\r\n\r\n", "/v1", "up"),
            "OPTIONS * HTTP/1.1\r\nHost: up\r\n" + via_line);
}

TEST(Rewrite, host_that_differs_from_the_target_is_replaced) {
  EXPECT_EQ(rewrite("GET http://h:81/ HTTP/1.1\r\nA: b\r\nHost: evil\r\n\r\n"),
            "GET / HTTP/1.1\r\nHost: h:81\r\nA: b\r\n" + via_line);
}

TEST(Rewrite, http_1_0_request_is_forwarded_as_1_1_and_recorded_in_via) {
  EXPECT_EQ(rewrite("GET http://h/ HTTP/1.0\r\nTE: trailers\r\n\r\n"),
            "GET / HTTP/1.1\r\nHost: h\r\nVia: 1.0 reprise-x1\r\n");
}

TEST(Rewrite, hop_by_hop_request_fields_are_removed) {
  EXPECT_EQ(
      rewrite(get("Connection: keep-alive, X-Hop, x-other\r\nKeep-Alive: 5\r\nX-Hop: 1\r\nA: b\r\n"
                  "Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic x\r\nProxy-Authenticate: y\r\n"
                  "Upgrade: h2c\r\nX-OTHER: 2\r\nTrailer: Z\r\nX-Hops: 3\r\n")),
      sent("A: b\r\nX-Hops: 3\r\n"));
}

TEST(Rewrite, J1_end_to_end_fields_stay_even_if_connection_names_them) {
  EXPECT_EQ(rewrite(post("Connection: Host, Content-Length, Authorization, Cookie, Cache-Control, "
                         "Connection, close, close, If-Match\r\n"
                         "Content-Length: 1\r\nAuthorization: x\r\nCookie: c\r\nCache-Control: "
                         "no-store\r\nIf-Match: 1\r\n")),
            "POST / HTTP/1.1\r\nHost: h\r\nAuthorization: x\r\nCookie: c\r\nCache-Control: "
            "no-store\r\nIf-Match: 1\r\n"
            "Content-Length: 1\r\n" +
                via_line);
}

TEST(Rewrite, J1_trailers_named_by_connection_are_removed) {
  const ReadResponse read(ok("Transfer-Encoding: chunked\r\nConnection: x-sum\r\n"));
  string out;
  append_trailers("A: 1\r\nX-Sum: 2\r\nB: 3\r\n", read.head.fields, out);
  EXPECT_EQ(out, "A: 1\r\nB: 3\r\n");
}

TEST(Rewrite, J2_connection_field_with_ten_thousand_members_is_honored) {
  string many = "Connection: X-Hop";
  for (int i = 0; i < 10000; ++i) many += ",a";
  EXPECT_EQ(rewrite(get(many + "\r\nX-Hop: 1\r\nA: 2\r\nB: 3\r\n")), sent("B: 3\r\n"));
}

TEST(Rewrite, J4_max_forwards_is_decremented_for_options_and_trace) {
  EXPECT_EQ(rewrite("TRACE http://h/ HTTP/1.1\r\nHost: h\r\nMax-Forwards: 10\r\nA: b\r\n\r\n"),
            "TRACE / HTTP/1.1\r\nHost: h\r\nA: b\r\nMax-Forwards: 9\r\n" + via_line);
  EXPECT_EQ(rewrite(get("Max-Forwards: x\r\n")), sent("Max-Forwards: x\r\n"));
}

TEST(Rewrite, J4_max_forwards_never_goes_below_zero) {
  // Intake itself responds to Max-Forwards: 0 and rejects `x`, so the rewrite gets these values only in this
  // test.
  for (const string value : {"0", "x"}) {
    const ReadRequest read("TRACE http://h/ HTTP/1.1\r\nHost: h\r\nMax-Forwards: " + value + "\r\n\r\n");
    Forward forward;
    forward.target = std::get<Target>(split_absolute(read.head.target));
    string out;
    write_request_head(read.head, forward, "reprise-x1", false, out);
    EXPECT_EQ(out, "TRACE / HTTP/1.1\r\nHost: h\r\nMax-Forwards: 0\r\n" + via_line);
  }
}

TEST(Rewrite, J9_only_the_trailers_member_of_te_is_kept) {
  EXPECT_EQ(rewrite(get("TE: deflate, trailers, chunked\r\nConnection: TE\r\n")),
            sent("TE: trailers\r\nConnection: TE\r\n"));
  EXPECT_EQ(rewrite(get("TE: trailers\r\nTE: deflate\r\nConnection: TE\r\n")),
            sent("TE: trailers\r\nConnection: TE\r\n"));
  EXPECT_EQ(rewrite(get("TE: deflate\r\nConnection: TE\r\n")), sent(""));
}

TEST(Rewrite, J9_C9_one_connection_field_names_both_te_and_the_upgrade) {
  EXPECT_EQ(rewrite(get("TE: trailers\r\nUpgrade: websocket\r\nConnection: TE, upgrade\r\n"), "", true),
            sent("Upgrade: websocket\r\nTE: trailers\r\nConnection: TE, upgrade\r\n"));
}

TEST(Rewrite, C2_expect_is_kept_only_if_there_is_a_body) {
  EXPECT_EQ(rewrite(post("Expect: 100-continue\r\nContent-Length: 1\r\n")),
            "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n" + via_line);
  EXPECT_EQ(rewrite(get("Expect: 100-continue\r\n")), sent(""));
  EXPECT_EQ(rewrite("POST http://h/ HTTP/1.0\r\nHost: h\r\nExpect: x\r\nContent-Length: 1\r\n\r\n"),
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nVia: 1.0 reprise-x1\r\n");
}

TEST(Rewrite, C9_upgrade_is_forwarded_only_if_enabled) {
  const string text =
      get("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n");
  EXPECT_EQ(rewrite(text, "", true),
            sent("Upgrade: websocket\r\nSec-WebSocket-Key: k\r\nConnection: upgrade\r\n"));
  EXPECT_EQ(rewrite(text), sent("Sec-WebSocket-Key: k\r\n"));
}

TEST(Rewrite, attempt_field_of_an_outer_reprise_is_removed) {
  EXPECT_EQ(rewrite(get("Reprise-Attempt: 2\r\nVia: 1.1 outer\r\n")), sent("Via: 1.1 outer\r\n"));
}

TEST(Rewrite, other_reprise_fields_of_a_request_are_forwarded_unless_connection_names_them) {
  EXPECT_EQ(rewrite(get("Reprise-No: 1\r\n")), sent("Reprise-No: 1\r\n"));
  EXPECT_EQ(rewrite(get("Reprise-No: 1\r\nReprise-Yes: 2\r\nConnection: reprise-no\r\n")),
            sent("Reprise-Yes: 2\r\n"));
}

TEST(Rewrite, J6_fields_with_a_meaning_only_in_responses_are_forwarded_unchanged_in_requests) {
  const string lines =
      "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: 5\r\nProxy-Status: cdn; error=dns_error\r\n";
  EXPECT_EQ(rewrite(get(lines)), sent(lines));
}

TEST(Rewrite, D3_every_attempt_sends_the_same_head) {
  const ReadRequest read(get("Connection: a\r\nA: 1\r\nB: 2\r\n"));
  const Intake intake = take_forward(read.head, {});
  for (int attempt = 1; attempt <= 2; ++attempt) {
    string out;
    write_request_head(read.head, std::get<Forward>(intake), "reprise-x1", false, out);
    EXPECT_EQ(out, sent("B: 2\r\n")) << attempt;
  }
}

TEST(Rewrite, response_with_repeated_length_is_forwarded_with_one_length) {
  EXPECT_EQ(response("HTTP/1.1 200 All  Right\r\nserver:x\r\nContent-Length: 05\r\nContent-Length: 5\r\n\r\n",
                     ours()),
            "HTTP/1.1 200 All  Right\r\nserver:x\r\nContent-Length: 5\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, J3_date_is_added_only_if_missing) {
  EXPECT_EQ(response(ok("Date: junk\r\nContent-Length: 0\r\n"), ours()),
            "HTTP/1.1 200 OK\r\nDate: junk\r\nContent-Length: 0\r\n" + via_line + "\r\n");
}

TEST(Rewrite, J6_response_fields_are_forwarded_byte_for_byte) {
  const string lines =
      "Allow: GET,HEAD\r\nWWW-Authenticate: Basic realm=\"a, b\"\r\nvary:  *\r\nETag: W/\"x\"\r\n"
      "Content-MD5: Q==\r\nDigest: d\r\nServer-Timing: a;dur=1\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n";
  EXPECT_EQ(response(ok(lines + "Content-Length: 0\r\n"), ours()),
            "HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, J6_fields_with_a_meaning_only_in_requests_are_forwarded_unchanged_in_responses) {
  const string lines = "Expect: 100-continue\r\nHost: h\r\nMax-Forwards: 0\r\nRetry-After: 5\r\n";
  EXPECT_EQ(response(ok("Proxy-Authorization: Basic x\r\n" + lines + "Content-Length: 0\r\n"), ours()),
            "HTTP/1.1 200 OK\r\n" + lines + "Content-Length: 0\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, via_of_a_response_names_the_version_in_which_the_upstream_sent_it) {
  EXPECT_EQ(response("HTTP/1.0 204 No Content\r\n\r\n", ours()),
            "HTTP/1.1 204 No Content\r\n" + date_line + "Via: 1.0 reprise-x1\r\n\r\n");
  const string text = "HTTP/1.1 204 No Content\r\n\r\n";
  ReadResponse read(text);
  read.head.over_http2 = true;
  string out;
  write_response_head(read.head, ours(), out);
  EXPECT_EQ(out, "HTTP/1.1 204 No Content\r\n" + date_line + "Via: 2.0 reprise-x1\r\n\r\n");
}

TEST(Rewrite, hop_by_hop_response_fields_are_removed) {
  EXPECT_EQ(response(ok("Connection: X-Hop, keep-alive\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\nA: "
                        "b\r\nProxy-Authenticate: x\r\n"
                        "Trailer: Z\r\nContent-Length: 0\r\nReprise-Attempts: 3\r\nReprise-Reason: x\r\n"
                        "Reprise-Ambiguous: true\r\nProxy-Connection: close\r\n"),
                     ours()),
            "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 0\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, B1_1xx_and_204_responses_lose_their_framing_fields) {
  EXPECT_EQ(response("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", ours()),
            "HTTP/1.1 204 No Content\r\n" + date_line + via_line + "\r\n");
  EXPECT_EQ(response("HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\nLink: x\r\n\r\n", ours()),
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n" + via_line + "\r\n");
}

TEST(Rewrite, head_and_304_responses_keep_their_content_length) {
  const string expected_tail = "Content-Length: 5\r\n" + date_line + via_line + "\r\n";
  EXPECT_EQ(response(ok("Content-Length: 5, 5\r\n"), ours(), "HEAD"), "HTTP/1.1 200 OK\r\n" + expected_tail);
  EXPECT_EQ(response("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", ours()),
            "HTTP/1.1 304 Not Modified\r\n" + expected_tail);
  EXPECT_EQ(response(ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), ours(), "HEAD"),
            "HTTP/1.1 200 OK\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, unreadable_content_length_is_not_forwarded) {
  // The framing guard rejects such a response, so it is rewritten only in this test.
  ReadResponse read(ok("Content-Length: 5\r\n"), "HEAD");
  read.head.fields.front().value = "5, 6";
  string out;
  write_response_head(read.head, ours(), out);
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, B2_chunked_response_is_sent_unchunked_to_an_http_1_0_client) {
  ResponseRewrite old = ours();
  old.client_minor_version = 0;
  old.chunked = true;
  EXPECT_EQ(response(ok("Transfer-Encoding: chunked\r\nTrailer: Z\r\n"), old),
            "HTTP/1.1 200 OK\r\n" + date_line + via_line + "Connection: close\r\n\r\n");
}

TEST(Rewrite, B3_close_delimited_response_is_forwarded_chunked) {
  ResponseRewrite chunked = ours();
  chunked.chunked = true;
  EXPECT_EQ(response("HTTP/1.0 200 OK\r\nTrailer: Z\r\n\r\n", chunked),
            "HTTP/1.1 200 OK\r\nTrailer: Z\r\nTransfer-Encoding: chunked\r\n" + date_line +
                "Via: 1.0 reprise-x1\r\n\r\n");
}

TEST(Rewrite, content_length_is_dropped_from_a_chunked_response) {
  ResponseRewrite chunked = ours();
  chunked.chunked = true;
  EXPECT_EQ(response(ok("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), chunked),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, B7_blank_before_the_colon_is_removed) {
  EXPECT_EQ(
      response(ok("A: 1\r\nX-Odd \t:  v \r\nB: 2\r\nContent-Length: 0\r\n"), ours()),
      "HTTP/1.1 200 OK\r\nA: 1\r\nX-Odd: v\r\nB: 2\r\nContent-Length: 0\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, B8_missing_blank_after_the_status_is_added) {
  EXPECT_EQ(response("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", ours()),
            "HTTP/1.1 200 \r\nContent-Length: 0\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, K1_proxy_status_of_reprise_is_added_after_that_of_the_upstream) {
  ResponseRewrite rewrite = ours();
  rewrite.extra_fields = "Reprise-Attempts: 2\r\nProxy-Status: reprise-x1; received-status=503\r\n";
  rewrite.close = true;
  EXPECT_EQ(response("HTTP/1.1 503 X\r\nProxy-Status: other; error=dns_error\r\nContent-Length: 0\r\n\r\n",
                     rewrite),
            "HTTP/1.1 503 X\r\nProxy-Status: other; error=dns_error\r\nContent-Length: 0\r\n" + date_line +
                via_line +
                "Connection: close\r\nReprise-Attempts: 2\r\nProxy-Status: reprise-x1; "
                "received-status=503\r\n\r\n");
}

TEST(Rewrite, J10_alt_svc_is_removed_only_if_its_removal_is_configured) {
  ResponseRewrite rewrite = ours();
  const string text = ok("alt-svc: h3=\":443\"\r\nAlt-Used: h\r\nContent-Length: 0\r\n");
  EXPECT_NE(response(text, rewrite).find("alt-svc"), string::npos);
  rewrite.drop_alt_svc = true;
  EXPECT_EQ(response(text, rewrite),
            "HTTP/1.1 200 OK\r\nAlt-Used: h\r\nContent-Length: 0\r\n" + date_line + via_line + "\r\n");
}

TEST(Rewrite, C8_101_response_keeps_its_upgrade_field) {
  EXPECT_EQ(response("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
                     ours()),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n" + via_line +
                "Connection: upgrade\r\n\r\n");
}

TEST(Rewrite, N24_upgrade_field_of_a_non_101_response_is_forwarded) {
  for (const string status : {"426 Upgrade Required", "200 OK"}) {
    const string head = "HTTP/1.1 " + status + "\r\nUpgrade: TLS/1.2, HTTP/2.0\r\n";
    const string text = head + "Connection: Upgrade\r\nContent-Length: 0\r\n\r\n";
    const string framed = "Content-Length: 0\r\n" + date_line + via_line;
    ResponseRewrite rewrite = ours();
    EXPECT_EQ(response(text, rewrite), head + framed + "Connection: upgrade\r\n\r\n");
    rewrite.close = true;
    EXPECT_EQ(response(text, rewrite), head + framed + "Connection: upgrade, close\r\n\r\n");
    rewrite.client_minor_version = 0;
    EXPECT_EQ(response(text, rewrite), "HTTP/1.1 " + status + "\r\n" + framed + "Connection: close\r\n\r\n");
  }
}

}  // namespace
}  // namespace reprise::http
