// Tests the framing guard on requests: every row of the table "Requests: framing" in the requirements, and
// every row of group A that depends on the head alone.
#include "proxy/http/http1/guard.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/fields.hpp"
#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;
using namespace std::string_literals;

TEST(Guard, plain_request_is_accepted_with_all_its_fields) {
  const ReadRequest read(
      "POST http://h:8080/a?b=c HTTP/1.1\r\nHost: h:8080\r\nX-Odd:  v \t\r\nContent-Length: 5\r\n\r\nhello");
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.method, "POST");
  EXPECT_EQ(read.head.target, "http://h:8080/a?b=c");
  EXPECT_EQ(read.head.minor_version, 1U);
  ASSERT_EQ(read.head.fields.size(), 3U);
  EXPECT_EQ(read.head.fields[0].id, FieldId::host);
  EXPECT_EQ(read.head.fields[1].value, "v");
  EXPECT_EQ(read.head.fields[1].line, "X-Odd:  v \t\r\n");
  EXPECT_EQ(read.head.framing.kind, Framing::Kind::length);
  EXPECT_EQ(read.head.framing.length, 5U);
  EXPECT_EQ(read.head.bytes, read.text.size() - 5);
  EXPECT_TRUE(read.head.keep_alive());
}

TEST(Guard, known_fields_are_recognized_in_any_case) {
  const std::pair<const char*, FieldId> known[] = {{"CONNECTION", FieldId::connection},
                                                   {"content-Length", FieldId::content_length},
                                                   {"Date", FieldId::date},
                                                   {"EXPECT", FieldId::expect},
                                                   {"hOST", FieldId::host},
                                                   {"keep-alive", FieldId::keep_alive},
                                                   {"Max-Forwards", FieldId::max_forwards},
                                                   {"Proxy-Authenticate", FieldId::proxy_authenticate},
                                                   {"Proxy-Authorization", FieldId::proxy_authorization},
                                                   {"Proxy-Connection", FieldId::proxy_connection},
                                                   {"Proxy-Status", FieldId::proxy_status},
                                                   {"REPRISE-Attempts", FieldId::reprise},
                                                   {"Retry-After", FieldId::retry_after},
                                                   {"tE", FieldId::te},
                                                   {"Trailer", FieldId::trailer},
                                                   {"Transfer-Encoding", FieldId::transfer_encoding},
                                                   {"Upgrade", FieldId::upgrade},
                                                   {"VIA", FieldId::via},
                                                   {"Reprise", FieldId::other},
                                                   {"Viaa", FieldId::other},
                                                   {"X-Host", FieldId::other},
                                                   {"Dale", FieldId::other}};
  for (const auto& [name, id] : known) EXPECT_EQ(identify_field(name), id) << name;
}

TEST(Guard, content_length_together_with_chunked_is_rejected) {
  EXPECT_EQ(request(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")),
            Parsed{Rejection::length_and_chunked});
  EXPECT_EQ(request(post("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n")),
            Parsed{Rejection::length_and_chunked});
  EXPECT_EQ(request(post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n")),
            Parsed{Rejection::length_and_chunked});
}

TEST(Guard, only_a_single_plain_chunked_transfer_encoding_is_accepted) {
  EXPECT_EQ(request(post("Transfer-Encoding: chunked\r\n")), complete);
  for (const string value : {"xchunked", "chunked, chunked", "chunked,", ",chunked", "identity",
                             "chunked, identity", "chunked;q=1", "chunked, gzip, foo", "", "chun ked"}) {
    EXPECT_EQ(request(post("Transfer-Encoding: " + value + "\r\n")), Parsed{Rejection::bad_transfer_encoding})
        << value;
  }
  EXPECT_EQ(request(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")),
            Parsed{Rejection::bad_transfer_encoding});
  EXPECT_EQ(request(post("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n")),
            Parsed{Rejection::bad_transfer_encoding});
}

TEST(Guard, known_unsupported_transfer_codings_get_501) {
  for (const string value : {"gzip", "deflate", "compress", "x-gzip", "gzip, chunked", "GZIP"}) {
    EXPECT_EQ(request(post("Transfer-Encoding: " + value + "\r\n")),
              Parsed{Rejection::unsupported_transfer_encoding})
        << value;
  }
  EXPECT_EQ(status_of(Rejection::unsupported_transfer_encoding), 501);
}

TEST(Guard, A3_odd_bytes_around_chunked_are_rejected) {
  for (const string value : {"\"chunked\"",
                             "\xa0"
                             "chunked",
                             "chunked\x85", "'chunked'"}) {
    EXPECT_EQ(request(post("Transfer-Encoding: " + value + "\r\n")), Parsed{Rejection::bad_transfer_encoding})
        << value;
  }
  for (const string value : {"\x0b"
                             "chunked",
                             "\x0c"
                             "chunked",
                             "chunked\x0b"}) {
    EXPECT_EQ(request(post("Transfer-Encoding: " + value + "\r\n")), Parsed{Rejection::bad_field_value})
        << value;
  }
}

TEST(Guard, transfer_encoding_in_an_http_1_0_request_is_rejected) {
  EXPECT_EQ(request("POST http://h/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Parsed{Rejection::chunked_in_http_1_0});
}

TEST(Guard, content_length_must_be_one_decimal_number) {
  for (const string value : {"+5", "-5", "0x5", "", " ", "5 5", "5,5", "5, 5", "5;", "5.0", "1e3", "\xd9\xa5",
                             "99999999999999999999", "18446744073709551616"}) {
    EXPECT_EQ(request(post("Content-Length: " + value + "\r\n")), Parsed{Rejection::bad_content_length})
        << value;
  }
  EXPECT_EQ(request(post("Content-Length: 5\r\nContent-Length: 6\r\n")),
            Parsed{Rejection::conflicting_content_length});
  const ReadRequest repeated(post("Content-Length: 5\r\nContent-Length: 5\r\n"));
  ASSERT_EQ(repeated.parsed, complete);
  EXPECT_EQ(repeated.head.framing.length, 5U);
  const ReadRequest large(post("Content-Length: 9999999999999999999\r\n"));
  ASSERT_EQ(large.parsed, complete);
  EXPECT_EQ(large.head.framing.length, 9999999999999999999U);
}

TEST(Guard, A1_content_length_with_leading_zeros_is_decimal) {
  const ReadRequest read(post("Content-Length: 007\r\n"));
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.framing.length, 7U);
  EXPECT_EQ(request(post("Content-Length: 00000000000000000007\r\n")), Parsed{Rejection::bad_content_length});
}

TEST(Guard, A2_lookalikes_of_framing_fields_are_rejected) {
  for (const string name : {"Content_Length", "content_length", "Transfer_Encoding", "TRANSFER_ENCODING"}) {
    EXPECT_EQ(request(post(name + ": 5\r\n")), Parsed{Rejection::lookalike_framing_field}) << name;
  }
  EXPECT_EQ(request(post("Content_Lengths: 5\r\nX_Y: 1\r\n")), complete);
  for (const char* const name : {"Content-Length", "transfer-encoding", "x_content_length", "Host"})
    EXPECT_FALSE(is_lookalike(name)) << name;
}

TEST(Guard, control_bytes_in_field_values_are_rejected) {
  for (const string& value : {"a\0b"s, "a\rb"s, "a\nb"s, "a\x01"s, "\x7f"s, "a\x1b[0m"s, "\rx"s}) {
    EXPECT_EQ(request(get("X: " + value + "\r\n")), Parsed{Rejection::bad_field_value}) << value;
  }
  // Tries every offset, because the framing guard searches for control bytes in steps of eight bytes.
  for (std::size_t at = 0; at < 24; ++at) {
    string value(24, 'v');
    value[at] = '\x02';
    EXPECT_EQ(request(get("X: " + value + "\r\n")), Parsed{Rejection::bad_field_value}) << at;
    value[at] = '\t';
    EXPECT_EQ(request(get("X: " + value + "\r\n")), complete) << at;
    value[at] = '\xe9';
    EXPECT_EQ(request(get("X: " + value + "\r\n")), complete) << at;
  }
  // A tab does not hide the byte behind it, and makes no blank a control byte.
  for (std::size_t at = 0; at < 23; ++at) {
    string value(24, 'v');
    value[at] = '\t';
    value[at + 1] = '\x02';
    EXPECT_EQ(request(get("X: " + value + "\r\n")), Parsed{Rejection::bad_field_value}) << at;
    value[at + 1] = ' ';
    EXPECT_EQ(request(get("X: " + value + "\r\n")), complete) << at;
  }
}

TEST(Guard, field_name_must_be_a_token_directly_followed_by_a_colon) {
  for (const string line :
       {": v", "X : v", "X\t: v", "X Y: v", "no-colon", "X\x80: v", "X(: v", "\x01: v", "X@Y: v"}) {
    EXPECT_EQ(request(get(line + "\r\n")), Parsed{Rejection::bad_field_name}) << line;
  }
}

TEST(Guard, unusual_but_legal_field_values_are_accepted) {
  EXPECT_EQ(request(get("Empty:\r\nBlank:   \r\nObs: caf\xc3\xa9\r\nQuote: \"a, b\"\r\nTab: a\tb\r\n")),
            complete);
}

TEST(Guard, folded_field_lines_are_rejected) {
  EXPECT_EQ(request(get("X: a\r\n b\r\n")), Parsed{Rejection::obs_fold});
  EXPECT_EQ(request(get("X: a\r\n\tb\r\n")), Parsed{Rejection::obs_fold});
}

TEST(Guard, A8_folded_first_field_line_and_malformed_end_of_the_head_are_rejected) {
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\r\n Host: h\r\n\r\n"), Parsed{Rejection::obs_fold});
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\r\nHost: h\r\n\rX"), Parsed{Rejection::bad_field_name});
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\r\nHost: h\r\n\n"), Parsed{Rejection::bad_field_name});
}

TEST(Guard, bare_line_feed_is_not_accepted_as_a_line_end) {
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\nHost: h\n\n"), Parsed{Rejection::bad_request_line});
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\r\nHost: h\nX: y\r\n\r\n"), Parsed{Rejection::bad_field_value});
}

TEST(Guard, host_field_must_be_present_once_and_valid) {
  EXPECT_EQ(request("GET http://h/ HTTP/1.1\r\n\r\n"), Parsed{Rejection::missing_host});
  EXPECT_EQ(request("GET http://h/ HTTP/1.0\r\n\r\n"), complete);
  EXPECT_EQ(request(get("Host: h\r\n")), Parsed{Rejection::repeated_host});
  EXPECT_EQ(request("GET http://h/ HTTP/1.0\r\nHost: h\r\nhost: i\r\n\r\n"),
            Parsed{Rejection::repeated_host});
  for (const string host : {"", "a b", "a,b", "u@h", "h/x", "h:0", "h:65536", "h:x", "h:1:2", "[::1",
                            "[fe80::1%25eth0]", "h\\x", "%00", "a..b"}) {
    EXPECT_EQ(request("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), Parsed{Rejection::bad_host}) << host;
  }
  for (const string host :
       {"h", "h:80", "h:", "h.", "[::1]", "[::1]:8080", "127.0.0.1", "my_service", "H-1.example.com"}) {
    EXPECT_EQ(request("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n"), complete) << host;
  }
}

TEST(Guard, up_to_four_empty_lines_before_the_request_are_skipped) {
  const ReadRequest read("\r\n\r\n" + get(""));
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.skipped, 4U);
  EXPECT_EQ(read.head.bytes, read.text.size());
  EXPECT_EQ(request("\r\n\r\n\r\n\r\n" + get("")), complete);
  EXPECT_EQ(request("\r\n\r\n\r\n\r\n\r\n" + get("")), Parsed{Rejection::bad_request_line});
  EXPECT_EQ(request("\r"), partial);
  EXPECT_EQ(request("\rX"), Parsed{Rejection::bad_request_line});
  EXPECT_EQ(request(""), partial);
}

TEST(Guard, unsupported_and_malformed_http_versions_are_rejected) {
  EXPECT_EQ(request("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), Parsed{Rejection::bad_version});
  EXPECT_EQ(request("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Parsed{Rejection::bad_version});
  EXPECT_EQ(request("GET / HTTP/0.9\r\nHost: h\r\n\r\n"), Parsed{Rejection::bad_version});
  for (const string version : {"http/1.1", "HTTP/01.1", "HTTP/1.10", "HTTP/1", "HTTP/2", "HTTP/2.",
                               "HTTP/a.1", "HTTP/1.b", "HTTP/2.00", "HTTP/1,1", "HTTP/2.0 ", "x"}) {
    EXPECT_EQ(request("GET / " + version + "\r\nHost: h\r\n\r\n"), Parsed{Rejection::bad_request_line})
        << version;
  }
  EXPECT_EQ(request("GET /\r\n"), Parsed{Rejection::bad_request_line});
  EXPECT_EQ(request("GET / HTTP/2.0\nHost: h\r\n\r\n"), Parsed{Rejection::bad_request_line});
  EXPECT_EQ(request("GET / HTTP/1.1 \r\nHost: h\r\n\r\n"), Parsed{Rejection::bad_request_line});
  EXPECT_EQ(request("GET / HTTP/1.1x\r\nHost: h\r\n\r\n"), Parsed{Rejection::bad_request_line});
  EXPECT_EQ(request("GET / " + string(64 * 1024, 'x')), partial);
  EXPECT_EQ(request("GET / " + string(64 * 1024 + 1, 'x')), Parsed{Rejection::bad_target})
      << "what has no end is not waited for";
  EXPECT_EQ(status_of(Rejection::bad_version), 505);
  EXPECT_EQ(status_of(Rejection::bad_request_line), 400);
}

TEST(Guard, newer_http_1_minor_versions_are_read_as_1_1) {
  for (const string version : {"HTTP/1.2", "HTTP/1.9"}) {
    const ReadRequest read("POST http://h/ " + version + "\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    ASSERT_EQ(read.parsed, complete);
    EXPECT_EQ(read.head.minor_version, 1U);
    EXPECT_EQ(read.head.framing.kind, Framing::Kind::chunked);
    EXPECT_TRUE(read.head.keep_alive());
  }
}

TEST(Guard, transfer_encoding_value_is_case_insensitive) {
  for (const string value : {"Chunked", "CHUNKED", "chunkeD"}) {
    const ReadRequest read(post("Transfer-Encoding: " + value + "\r\n"));
    ASSERT_EQ(read.parsed, complete) << value;
    EXPECT_EQ(read.head.framing.kind, Framing::Kind::chunked);
  }
  EXPECT_EQ(request(post("Transfer-Encoding: gzip, Chunked\r\n")),
            Parsed{Rejection::unsupported_transfer_encoding});
  EXPECT_EQ(request(post("Transfer-Encoding: identity\r\n")), Parsed{Rejection::bad_transfer_encoding});
  EXPECT_EQ(request(post("Transfer-Encoding: identity, chunked\r\n")),
            Parsed{Rejection::bad_transfer_encoding});
}

TEST(Guard, request_method_must_be_a_token) {
  EXPECT_EQ(request("M-SEARCH / HTTP/1.1\r\nHost: h\r\n\r\n"), complete);
  EXPECT_EQ(request("x / HTTP/1.1\r\nHost: h\r\n\r\n"), complete);
  EXPECT_EQ(request("G(T / HTTP/1.1\r\n"), Parsed{Rejection::bad_method});
  EXPECT_EQ(request(" GET / HTTP/1.1\r\n"), Parsed{Rejection::bad_method});
  EXPECT_EQ(request("\x17\x03\x01\x02"), Parsed{Rejection::bad_method});
  EXPECT_EQ(request("GET\r\n"), Parsed{Rejection::bad_request_line});
}

TEST(Guard, tls_handshake_on_a_plain_listener_is_rejected_as_tls_to_plain_listener) {
  EXPECT_EQ(request("\x16\x03\x01\x02"), Parsed{Rejection::tls_to_plain_listener});
  EXPECT_EQ(request("\x16"), Parsed{Rejection::tls_to_plain_listener});
  EXPECT_EQ(request("\r\n\x16"), Parsed{Rejection::bad_method}) << "behind a line end nobody speaks TLS";
}

TEST(Guard, A15_methods_over_32_bytes_are_rejected_with_501) {
  EXPECT_EQ(request(string(32, 'M') + " / HTTP/1.1\r\nHost: h\r\n\r\n"), complete);
  EXPECT_EQ(request(string(33, 'M') + " / HTTP/1.1\r\nHost: h\r\n\r\n"), Parsed{Rejection::method_too_long});
  EXPECT_EQ(request(string(33, 'M')), Parsed{Rejection::method_too_long});
  EXPECT_EQ(status_of(Rejection::method_too_long), 501);
}

TEST(Guard, A11_target_rejects_blanks_and_control_bytes_but_keeps_odd_bytes) {
  for (const string& target : {""s, "/a b"s, "/a\tb"s, "/a#b"s, "/a\x7f"s, "/a\x01"s, "/a\0b"s}) {
    EXPECT_EQ(request("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n"), Parsed{Rejection::bad_target})
        << target;
  }
  for (const string target : {"/{a}|b", "/caf\xc3\xa9", "/%zz", "/?a[]=1", "/\\", "/\"<>^`"}) {
    EXPECT_EQ(request("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n"), complete) << target;
  }
}

TEST(Guard, request_head_limits_are_enforced) {
  HeadLimits limits;
  limits.bytes = 256;
  limits.fields = 3;
  limits.target_bytes = 16;
  EXPECT_EQ(request("GET /123456789012345 HTTP/1.1\r\nHost: h\r\n\r\n", limits), complete);
  EXPECT_EQ(request("GET /1234567890123456 HTTP/1.1\r\nHost: h\r\n\r\n", limits),
            Parsed{Rejection::target_too_long});
  EXPECT_EQ(request("GET /1234567890123456", limits), Parsed{Rejection::target_too_long});
  EXPECT_EQ(request("GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\n\r\n", limits), complete);
  EXPECT_EQ(request("GET / HTTP/1.1\r\nHost: h\r\nA: 1\r\nB: 2\r\nC: 3\r\n", limits),
            Parsed{Rejection::too_many_fields});
}

TEST(Guard, N21_head_size_limit_counts_fields_but_not_the_request_line) {
  HeadLimits limits;
  limits.bytes = 256;
  limits.target_bytes = 1000;
  for (const std::size_t target : {1U, 900U}) {
    const string line = "GET /" + string(target, 'p') + " HTTP/1.1\r\n";
    const string start = line + "Host: h\r\nA: ";
    const std::size_t room = 256 + line.size() - start.size();
    EXPECT_EQ(request(start + string(room - 4, 'a') + "\r\n\r\n", limits), complete);
    EXPECT_EQ(request(start + string(room - 3, 'a') + "\r\n\r\n", limits),
              Parsed{Rejection::header_too_large});
    EXPECT_EQ(request(start + string(room, 'a'), limits), Parsed{Rejection::header_too_large});
    EXPECT_EQ(request(start + string(room - 1, 'a'), limits), partial);
  }
  EXPECT_EQ(request("GET /" + string(999, 'p'), limits), partial) << "a request line has its own limit";
}

TEST(Guard, N21_target_of_up_to_64_KiB_is_accepted) {
  const string start = "GET http://h/";
  const string target(64 * 1024 - string("http://h/").size(), 'a');
  EXPECT_EQ(request(start + target + " HTTP/1.1\r\nHost: h\r\n\r\n"), complete);
  EXPECT_EQ(request(start + target + "a HTTP/1.1\r\nHost: h\r\n\r\n"), Parsed{Rejection::target_too_long});
}

TEST(Guard, C2_only_a_single_100_continue_expectation_is_accepted) {
  const ReadRequest good(post("Content-Length: 1\r\nExpect: 100-Continue\r\n"));
  EXPECT_EQ(good.parsed, complete);
  EXPECT_TRUE(good.head.expects_continue());
  const ReadRequest bodyless(get("Expect: 100-continue\r\n"));
  EXPECT_EQ(bodyless.parsed, complete);
  EXPECT_FALSE(bodyless.head.expects_continue());
  const ReadRequest old("POST http://h/ HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(old.parsed, complete);
  EXPECT_FALSE(old.head.expects_continue());
  EXPECT_EQ(request(post("Content-Length: 1\r\nExpect: 100-continue\r\nExpect: 100-continue\r\n")),
            Parsed{Rejection::bad_field_value});
  EXPECT_EQ(request(post("Content-Length: 1\r\nExpect: 100-continue, other\r\n")),
            Parsed{Rejection::bad_expect});
  EXPECT_EQ(status_of(Rejection::bad_expect), 417);
}

TEST(Guard, C2_body_awaits_100_continue_only_if_the_client_asks_for_it) {
  const auto expects = [](const string& lines) {
    const ReadRequest read(post(lines));
    EXPECT_EQ(read.parsed, complete) << lines;
    return read.head.expects_continue();
  };
  EXPECT_TRUE(expects("Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n"));
  EXPECT_FALSE(expects("Transfer-Encoding: chunked\r\n"));
  EXPECT_FALSE(expects("Content-Length: 1\r\n"));
  EXPECT_FALSE(expects("Content-Length: 1\r\nExpect:\r\n")) << "an empty one expects nothing";
}

TEST(Guard, A9_http_1_0_request_without_length_has_no_body_and_no_keep_alive) {
  const ReadRequest read("POST http://h/ HTTP/1.0\r\nConnection: keep-alive\r\n\r\nbody");
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.framing.kind, Framing::Kind::none);
  EXPECT_FALSE(read.head.keep_alive());
}

TEST(Guard, A14_any_method_may_have_a_body) {
  for (const string method : {"GET", "HEAD", "DELETE", "OPTIONS"}) {
    const ReadRequest with_length(method + " / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    ASSERT_EQ(with_length.parsed, complete) << method;
    EXPECT_EQ(with_length.head.framing.length, 3U);
    const ReadRequest chunked(method + " / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    ASSERT_EQ(chunked.parsed, complete) << method;
    EXPECT_EQ(chunked.head.framing.kind, Framing::Kind::chunked);
  }
}

TEST(Guard, A17_bytes_after_the_head_are_not_parsed) {
  const string text = post("Content-Length: 0\r\n");
  const ReadRequest read(text + "GARBAGE\x01");
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.bytes, text.size());
}

TEST(Guard, J2_connection_field_accepts_empty_and_many_list_members) {
  const ReadRequest odd(get("Connection: ,,close, ,\r\n"));
  ASSERT_EQ(odd.parsed, complete);
  EXPECT_FALSE(odd.head.keep_alive());
  EXPECT_FALSE(ReadRequest(get("Proxy-Connection: close\r\n")).head.keep_alive());
  EXPECT_TRUE(ReadRequest(get("Connection: closed\r\n")).head.keep_alive());
  string many = "Connection: close";
  for (int i = 0; i < 10000; ++i) many += ",a";
  EXPECT_EQ(request(get(many + "\r\n")), complete);
  for (int i = 0; i < 30000; ++i) many += ",a";
  EXPECT_EQ(request(get(many + "\r\n")), Parsed{Rejection::header_too_large});
}

TEST(Guard, malformed_connection_field_of_a_request_is_rejected) {
  for (const string value : {"keep-alive; x", "a b", "\"close\"", "close:"}) {
    EXPECT_EQ(request(get("Connection: " + value + "\r\n")), Parsed{Rejection::bad_field_value}) << value;
  }
}

TEST(Guard, J7_field_conditions_match_trimmed_values) {
  const ReadRequest read(get("If-Match:  \"x\" \r\nEmpty:\r\nTwice: a\r\nTwice: b\r\nTab:\t\ta b\t \r\n"));
  ASSERT_EQ(read.parsed, complete);
  EXPECT_TRUE(read.head.has("if-match", "\"x\""));
  EXPECT_TRUE(read.head.has("tab", "a b"));
  EXPECT_FALSE(read.head.has("tab", "\ta b"));
  EXPECT_TRUE(read.head.has("IF-MATCH", ""));
  EXPECT_FALSE(read.head.has("if-match", "x"));
  EXPECT_FALSE(read.head.has("Empty", ""));
  EXPECT_TRUE(read.head.has("twice", "b"));
  EXPECT_FALSE(read.head.has("absent", ""));
}

}  // namespace
}  // namespace reprise::http
