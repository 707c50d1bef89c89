// Tests the limits of the framing guard: the last accepted value and the first rejected one. Planted defects
// at these limits showed that other tests do not detect them.
#include <gtest/gtest.h>

#include "proxy/http/http1/chunked.hpp"
#include "proxy/http/http1/guard.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/hop_by_hop.hpp"
#include "proxy/http/message/intake.hpp"
#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;
using State = ChunkDecoder::State;

/// Runs the framing guard without the Beast check, which would hide mistakes of the guard.
Parsed guard_alone(const string& text) {
  RequestHead head;
  return guard_request(text, {}, head);
}
Parsed guard_alone(const string& text, std::string_view method) {
  ResponseHead head;
  Oddities oddities;
  return guard_response(text, {}, method, head, oddities);
}

TEST(GuardEdge, framing_guard_rejects_malformed_requests_without_the_beast_check) {
  const std::pair<string, Rejection> refused[] = {
      {post("Content-Length: 5\r\nContent-Length: 6\r\n"), Rejection::conflicting_content_length},
      {post("Content-Length: 5\r\nContent-Length: 5\r\nContent-Length: 6\r\n"),
       Rejection::conflicting_content_length},
      {post("Content-Length: x\r\n"), Rejection::bad_content_length},
      {post("Content-Length: 18446744073709551621\r\n"), Rejection::bad_content_length},
      {post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), Rejection::length_and_chunked},
      {post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       Rejection::bad_transfer_encoding},
      {post("Transfer-Encoding: xchunked\r\n"), Rejection::bad_transfer_encoding},
      {get("X : y\r\n"), Rejection::bad_field_name},
      {get("X(: y\r\n"), Rejection::bad_field_name},
      {get("X: a\x01\r\n"), Rejection::bad_field_value},
      {get("X: a\r\n b\r\n"), Rejection::obs_fold},
      {"G(T / HTTP/1.1\r\nHost: h\r\n\r\n", Rejection::bad_method},
      {"GET  HTTP/1.1\r\nHost: h\r\n\r\n", Rejection::bad_target},
      {"GET /\x7f HTTP/1.1\r\nHost: h\r\n\r\n", Rejection::bad_target},
      {"GET /a\tb HTTP/1.1\r\nHost: h\r\n\r\n", Rejection::bad_target},
      {"GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n", Rejection::bad_target},
      {"GET / HTTP/2.1\r\nHost: h\r\n\r\n", Rejection::bad_version},
      {"GET / HTTP/1.2\nHost: h\r\n\r\n", Rejection::bad_request_line},
      {"GET / HTTP/1.1\rXHost: h\r\n\r\n", Rejection::bad_request_line},
      {"GET / HTTP/1.1\r\n\r\n", Rejection::missing_host}};
  for (const auto& [text, cause] : refused) EXPECT_EQ(guard_alone(text), Parsed{cause}) << text;
}

TEST(GuardEdge, framing_guard_rejects_malformed_responses_without_the_beast_check) {
  const std::pair<string, Rejection> refused[] = {
      {ok("Content-Length: 5\r\nContent-Length: 6\r\n"), Rejection::conflicting_content_length},
      {ok("Content-Length: 5, 6\r\n"), Rejection::bad_content_length},
      {ok("Content-Length: 5,\r\n"), Rejection::bad_content_length},
      {ok("Content-Length : 5\r\n"), Rejection::bad_field_name},
      {ok("Transfer-Encoding : chunked\r\n"), Rejection::bad_field_name},
      {ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), Rejection::bad_transfer_encoding},
      {ok("Transfer-Encoding: gzip\r\n"), Rejection::unsupported_transfer_encoding},
      {ok("Content-Length: 1\r\n \r\n"), Rejection::obs_fold},
      {"HTTP/1.1 200 O\x01K\r\n\r\n", Rejection::bad_status_line},
      {"HTTP/1.1 099 X\r\n\r\n", Rejection::bad_status},
      {"HTTP/1.x 200 OK\r\n\r\n", Rejection::bad_status_line}};
  for (const auto& [text, cause] : refused) EXPECT_EQ(guard_alone(text, "GET"), Parsed{cause}) << text;
}

TEST(GuardEdge, transfer_coding_of_a_response_is_case_insensitive) {
  const ReadResponse read(ok("Transfer-Encoding: CHUNKED\r\n"));
  ASSERT_EQ(read.parsed, complete);
  EXPECT_EQ(read.head.framing.kind, Framing::Kind::chunked);
}

TEST(GuardEdge, framing_guard_decides_correctly_whether_a_connection_is_reusable) {
  const auto reusable = [](const string& text, std::string_view method) {
    ResponseHead head;
    Oddities oddities;
    EXPECT_EQ(guard_response(text, {}, method, head, oddities), complete) << text;
    return head.reusable;
  };
  EXPECT_FALSE(reusable(ok("Content-Length: 0\r\nConnection: close\r\n"), "GET"));
  EXPECT_FALSE(reusable(ok("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), "GET"));
  EXPECT_FALSE(reusable(ok("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), "HEAD"));
  EXPECT_FALSE(reusable(ok(""), "GET"));
  EXPECT_FALSE(reusable("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "GET"));
  EXPECT_FALSE(
      reusable("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: close, keep-alive\r\n\r\n", "GET"));
  EXPECT_FALSE(reusable("HTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n", "GET"));
  EXPECT_FALSE(reusable("HTTP/1.1 103 X\r\nTransfer-Encoding: chunked\r\n\r\n", "GET"));
  EXPECT_TRUE(reusable(ok("Content-Length: 0\r\n"), "GET"));
  EXPECT_TRUE(reusable("HTTP/1.1 204 X\r\n\r\n", "GET"));
}

TEST(GuardEdge, A2_field_whose_name_is_only_a_prefix_of_a_framing_field_name_is_accepted) {
  EXPECT_EQ(request(get("C: 1\r\nContent: 2\r\nContent-: 3\r\nTransfer: 4\r\nTransfer_Encodin: 5\r\n")),
            complete);
}

TEST(GuardEdge, connection_close_is_detected_at_any_position) {
  EXPECT_TRUE(ReadRequest(get("Connection: close, x\r\n")).head.close);
  EXPECT_TRUE(ReadRequest(get("Connection: close\r\nConnection: x\r\n")).head.close);
  EXPECT_TRUE(ReadRequest(get("Proxy-Connection: close\r\n")).head.close);
  EXPECT_FALSE(ReadRequest(get("Connection: closed\r\n")).head.close);
  EXPECT_FALSE(ReadRequest(get("Connection: close\r\n")).head.keep_alive());
  const string old = "HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive, x\r\n\r\n";
  EXPECT_TRUE(ReadResponse(old).head.reusable);
  EXPECT_FALSE(ReadResponse(ok("Content-Length: 0\r\nConnection: close, keep-alive\r\n")).head.reusable);
}

TEST(GuardEdge, control_byte_before_a_line_feed_is_rejected) {
  EXPECT_EQ(guard_alone(get("X: a\n\nY: b\r\n")), Parsed{Rejection::bad_field_value});
  for (const string control : {"\x01", "\r\r", "\x7f", "\x0b"}) {
    EXPECT_EQ(guard_alone(get("X: a" + control + "\nY: b\r\n")), Parsed{Rejection::bad_field_value});
    EXPECT_EQ(guard_alone(ok("X: a" + control + "\nY: b\r\n"), "GET"), Parsed{Rejection::bad_field_value});
    EXPECT_EQ(guard_alone("HTTP/1.1 200 O" + control + "\nX: a\r\n\r\n", "GET"),
              Parsed{Rejection::bad_status_line});
  }
  EXPECT_EQ(guard_alone("HTTP/1.1 200 O\rX: a\r\n\r\n", "GET"), Parsed{Rejection::bad_status_line});
  EXPECT_EQ(guard_alone("HTTP/1.1 200\rX", "GET"), Parsed{Rejection::bad_status_line});
  EXPECT_EQ(guard_alone("GET / HTTP/1.1\rXHost: h\r\n\r\n"), Parsed{Rejection::bad_request_line});
}

TEST(GuardEdge, control_byte_is_rejected_at_every_offset_of_a_value) {
  for (const char control : {'\x01', '\x1f', '\x7f'}) {
    for (std::size_t at = 0; at < 24; ++at) {
      string value(24, 'v');
      value[at] = control;
      EXPECT_EQ(guard_alone(get("X: " + value + "\r\n")), Parsed{Rejection::bad_field_value}) << at;
    }
  }
}

TEST(GuardEdge, I1_large_head_is_accepted_or_rejected_at_the_first_byte_that_decides) {
  const string start = "GET http://h/ HTTP/1.1\r\nHost: h\r\nX: " + string(3000, 'v') + "\r\n";
  EXPECT_EQ(request(start + ": v\r\n"), Parsed{Rejection::bad_field_name});
  EXPECT_EQ(request(start + "\r\nbody without an end"), complete);
  EXPECT_EQ(request(start + "Y: y"), partial);
  EXPECT_EQ(request("\n" + string(3000, 'v')), Parsed{Rejection::bad_method});
  EXPECT_EQ(request("GET / HTTP/1.1\n" + string(3000, 'v')), Parsed{Rejection::bad_request_line});
  const string head = "HTTP/1.1 200 OK\r\nX: " + string(3000, 'v');
  EXPECT_EQ(response(head), partial);
  EXPECT_EQ(response(head + "\r\nY: y"), partial);
  EXPECT_EQ(response(head + "\r\n\r\nbody without an end"), complete);
}

TEST(GuardEdge, reported_oddities_of_a_response_do_not_include_those_of_an_earlier_response) {
  Oddities oddities;
  ResponseHead head;
  ASSERT_EQ(guard_response("HTTP/1.1 200\r\nX : y\r\n\r\n", {}, "GET", head, oddities), complete);
  EXPECT_TRUE(oddities.blank_before_colon && oddities.no_space_after_status);
  ASSERT_EQ(guard_response("HTTP/1.1 200 OK\r\nX: y\r\n\r\n", {}, "GET", head, oddities), complete);
  EXPECT_FALSE(oddities.any());
}

TEST(GuardEdge, A12_A13_authority_grammar_is_exact_at_its_boundaries) {
  const auto stands = [](const string& text) {
    return std::holds_alternative<Authority>(split_authority(text, 80));
  };
  EXPECT_TRUE(stands(string(63, 'a') + ".b"));
  EXPECT_FALSE(stands("a.."));
  EXPECT_FALSE(stands("a.b..:80"));
  EXPECT_FALSE(stands("[::1]x80"));
  EXPECT_FALSE(stands("[::1]80"));
  EXPECT_FALSE(stands("[12]"));
  EXPECT_FALSE(stands("[12:34]"));
  EXPECT_TRUE(stands("[1:2:3:4:5:6:7::]"));
  EXPECT_FALSE(stands("[1:2:3:4:5:6:7:8:9:a]"));
  EXPECT_TRUE(stands("[0000:0000:0000:0000:0000:ffff:255.255.255.255]"));
  EXPECT_FALSE(stands("[0000:0000:0000:0000:0000:ffff:0255.255.255.255]"));
}

TEST(GuardEdge, G1_first_and_last_port_of_an_allowed_range_are_accepted) {
  for (const string port : {"443", "8000", "8999"}) {
    const ReadRequest read("CONNECT h:" + port + " HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(
        std::holds_alternative<Connect>(take_forward(read.head, PortRanges{{443, 443}, {8000, 8999}})))
        << port;
  }
}

TEST(GuardEdge, C9_upgrade_needs_an_offer_and_a_101_response) {
  const ReadRequest both(get("Connection: upgrade\r\nUpgrade: websocket, h2c\r\n"));
  const ReadRequest unnamed(get("Upgrade: websocket\r\n"));
  const ReadResponse h2c("HTTP/1.1 101 X\r\nUpgrade: h2c\r\n\r\n");
  const ReadResponse websocket("HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n");
  const ReadResponse plain("HTTP/1.1 200 OK\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(is_offered_upgrade(both.head, ToH2c::dropped, websocket.head));
  EXPECT_FALSE(is_offered_upgrade(both.head, ToH2c::dropped, h2c.head));
  EXPECT_TRUE(is_offered_upgrade(both.head, ToH2c::passed, h2c.head)) << "through a gateway";
  EXPECT_FALSE(is_offered_upgrade(both.head, ToH2c::dropped, plain.head));
  EXPECT_FALSE(is_offered_upgrade(unnamed.head, ToH2c::dropped, websocket.head));
}

TEST(GuardEdge, J1_connection_options_match_in_any_order_and_case) {
  const ReadRequest read(
      get("Connection: zeta, Alpha, Content-Type\r\nConnection: beta\r\nX: gamma, omega\r\n"));
  const NamedByConnection named(read.head.fields);
  for (const string name : {"ALPHA", "beta", "Zeta"}) EXPECT_TRUE(named.removes(name)) << name;
  for (const string name : {"gamma", "omega", "Content-Type", "alphabet"})
    EXPECT_FALSE(named.removes(name)) << name;
}

TEST(GuardEdge, reset_chunk_decoder_restarts_its_counters) {
  ChunkDecoder decoder;
  const string padded = "1;a=" + string(4000, 'b') + "\r\nx\r\n";
  const string trailers = "0\r\nX: " + string(5000, 'y') + "\r\n\r\n";
  for (int body = 0; body < 3; ++body) {
    decoder.reset();
    for (int chunk = 0; chunk < 3; ++chunk) {
      EXPECT_EQ(decoder.step(padded).state, State::data);
      EXPECT_EQ(decoder.step("\r\n").state, State::more);
    }
    EXPECT_EQ(decoder.step(trailers).state, State::done) << body;
  }
  decoder.reset();
  EXPECT_EQ(decoder.step("5;a=\"").state, State::more);  // stops in the middle of the chunk size line
  decoder.reset();
  EXPECT_EQ(decoder.step("0\r\n\r\n").state, State::done);
}

TEST(GuardEdge, bad_chunk_size_is_rejected_at_its_first_wrong_byte) {
  for (const string text : {"5g", "5\"", "5=", "g", ";", "5\r5", "10000000000000005"}) {
    ChunkDecoder decoder;
    EXPECT_EQ(decoder.step(text).state, State::broken) << text;
  }
}

TEST(GuardEdge, trailers_with_content_digests_are_kept) {
  ChunkDecoder decoder;
  const string kept = "Content-MD5: a\r\nContent-Digest: b\r\nX-Content-Type: c\r\n";
  EXPECT_EQ(
      decoder.step("0\r\n" + kept + "Content-Type: d\r\nIf-Match: e\r\nReprise-Attempts: 2\r\n\r\n").state,
      State::done);
  EXPECT_EQ(decoder.trailers(), kept);
}

// The parser may skip a partial head after its buffer has grown. Views from the previous call point into the
// old buffer, so they must be cleared.
TEST(GuardEdge, L10_partially_parsed_head_has_no_views_into_the_old_buffer_after_the_buffer_grew) {
  RequestHead head;
  std::string first = "POST http://h/ HTTP/1.1\r\nHost: h\r\nX: ";
  EXPECT_EQ(parse_request(first, {}, head), partial);
  EXPECT_EQ(head.method, "POST");
  const std::string grown = first + std::string(4000, 'x');
  EXPECT_EQ(parse_request(grown, {}, head), partial);
  EXPECT_EQ(head.method, "");
  EXPECT_EQ(head.target, "");
  EXPECT_TRUE(head.fields.empty());
  ResponseHead response;
  first = "HTTP/1.1 200 Fine\r\nA: b\r\nX: ";
  EXPECT_EQ(parse_response(first, {}, "GET", response), partial);
  EXPECT_EQ(parse_response(first + std::string(4000, 'x'), {}, "GET", response), partial);
  EXPECT_EQ(response.reason, "");
  EXPECT_TRUE(response.fields.empty());
}

}  // namespace
}  // namespace reprise::http
