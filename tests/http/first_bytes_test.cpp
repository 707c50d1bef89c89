// Tests protocol detection from the first bytes of a tunnel (row G7).
#include "proxy/http/message/first_bytes.hpp"
#include "proxy/http/http1/parse.hpp"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

namespace reprise::http {

void PrintTo(DetectedProtocol words, std::ostream* out) {
  *out << policy::names_of<DetectedProtocol>[static_cast<std::size_t>(words)];
}

namespace {

constexpr Connect tunnel{"api.test", 8080, "api.test:8080"};

DetectedProtocol judged(std::string_view bytes, const Connect& to = tunnel) {
  return detect_by_first_bytes({bytes}, to, 16 * 1024);
}

const std::vector<std::string> requests{
    "GET / HTTP/1.1\r\n",
    "POST /a/b?c=d HTTP/1.0\r\nHost: x\r\n\r\nbody",
    "OPTIONS * HTTP/1.1\r\n",
    "M-SEARCH /x HTTP/1.1\r\n",
    "GET /x HTTP/1.2\r\n",
    "GET http://api.test:8080/a HTTP/1.1\r\n",
    "GET HTTP://API.test:8080 HTTP/1.1\r\n",
};

TEST(FirstBytes, G7_complete_request_line_is_detected_as_http) {
  for (const auto& text : requests) EXPECT_EQ(judged(text), DetectedProtocol::http) << text;
}

TEST(FirstBytes, G7_partial_request_line_waits_for_more_bytes) {
  for (const auto& text : requests) {
    const std::size_t line = text.find("\r\n") + 2;
    for (std::size_t i = 0; i < line; ++i) {
      EXPECT_EQ(judged(text.substr(0, i)), DetectedProtocol::more) << text.substr(0, i);
    }
    EXPECT_EQ(judged(text.substr(0, line)), DetectedProtocol::http) << text;
  }
}

TEST(FirstBytes, G7_bytes_that_are_not_an_http_1_request_are_opaque) {
  for (const std::string& text : std::vector<std::string>{
           std::string("\x16\x02", 2),  // not a TLS record
           std::string("\x15\x03\x01", 3),
           std::string("\0", 1),
           "PRI * HTTP/1.1\r\n",
           "PRI * HTTP/2.0\r\n\r\nXX",
           "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
           "SSH-2.0-x\r\n",
           "EHLO host\r\n",
           "get key\r\n",           // memcached
           "*1\r\n$4\r\nPING\r\n",  // Redis; `*` is a valid token character
           "0032git-upload-pack x",
           "OPTIONS rtsp://api.test/ RTSP/1.0\r\n",
           "OPTIONS * RTSP/1.0\r\n",
           "GET * HTTP/1.1\r\n",
           "GET / HTTP/2.0\r\n",
           "GET / HTTP/1.1\n",
           "GET / HTTP/1.x\r\n",
           "GET /\r\n",
           "GET / \r\n",
           "GET  / HTTP/1.1\r\n",
           "GET /a b HTTP/1.1\r\n",
           "GET /a#b HTTP/1.1\r\n",
           "GET /\x01 HTTP/1.1\r\n",
           "GET /\x7f HTTP/1.1\r\n",
           "OPTIONS *a HTTP/1.1\r\n",
           " GET / HTTP/1.1\r\n",
           "\r\nGET / HTTP/1.1\r\n",
           "GET\t/ HTTP/1.1\r\n",
           std::string(33, 'A'),
       }) {
    EXPECT_EQ(judged(text), DetectedProtocol::opaque) << text;
  }
}

TEST(FirstBytes, G7_requests_for_another_proxy_inside_the_tunnel_are_opaque) {
  for (const std::string& text : std::vector<std::string>{
           "CONNECT other.test:443 HTTP/1.1\r\n",
           "CONNECT /a HTTP/1.1\r\n",
           "GET http://other.test/ HTTP/1.1\r\n",
           "GET http://other.test:8080/ HTTP/1.1\r\n",
           "GET http://api.test/ HTTP/1.1\r\n",  // without a port, http: means port 80
           "GET https://api.test:8080/ HTTP/1.1\r\n",
           "GET http://u@api.test:8080/ HTTP/1.1\r\n",
       }) {
    EXPECT_EQ(judged(text), DetectedProtocol::opaque) << text;
  }
  EXPECT_EQ(judged("GET http://[::1]:80/ HTTP/1.1\r\n", {"::1", 80, "[::1]:80"}), DetectedProtocol::http);
}

TEST(FirstBytes, tls_handshake_record_and_http2_preface_are_detected) {
  const std::string record("\x16\x03\x01\x02", 4);
  EXPECT_EQ(judged(record.substr(0, 1)), DetectedProtocol::more);
  EXPECT_EQ(judged(record.substr(0, 2)), DetectedProtocol::tls);
  EXPECT_EQ(judged(record), DetectedProtocol::tls);
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  for (std::size_t i = 0; i < preface.size(); ++i)
    EXPECT_EQ(judged(preface.substr(0, i)), DetectedProtocol::more) << i;
  EXPECT_EQ(judged(preface), DetectedProtocol::http2);
  EXPECT_EQ(judged(preface + "x"), DetectedProtocol::http2);
}

TEST(FirstBytes, G7_stream_in_which_the_server_sends_first_is_never_detected_as_http) {
  EXPECT_EQ(detect_by_first_bytes({"", true}, tunnel, 100), DetectedProtocol::server_first);
  EXPECT_EQ(detect_by_first_bytes({"GET / HTTP/1.1\r\n", true}, tunnel, 100), DetectedProtocol::server_first);
}

TEST(FirstBytes, M6_server_that_opens_http2_first_leaves_the_decision_to_the_preface) {
  const auto after_settings = [](const std::string& bytes, bool waited) {
    return detect_by_first_bytes({bytes, true, waited, true}, tunnel, 100);
  };
  EXPECT_EQ(after_settings("", false), DetectedProtocol::more);
  EXPECT_EQ(after_settings("PRI * HTTP/2.0\r\n", false), DetectedProtocol::more);
  EXPECT_EQ(after_settings("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false), DetectedProtocol::http2);
  for (const std::string other : {"GET / HTTP/1.1\r\n", "\x16\x03", "\x01"})
    EXPECT_EQ(after_settings(other, false), DetectedProtocol::server_first) << other;
  EXPECT_EQ(after_settings("PRI", true), DetectedProtocol::server_first);
}

TEST(FirstBytes, M6_settings_are_recognized_by_the_head_of_their_frame) {
  const std::string settings("\0\0\x0c\x04\0\0\0\0\0", 9);
  EXPECT_TRUE(begin_with_settings(settings));
  EXPECT_TRUE(begin_with_settings(settings + "more"));
  EXPECT_FALSE(begin_with_settings(settings.substr(0, 8)));
  EXPECT_FALSE(begin_with_settings("SSH-2.0-x"));
  for (std::size_t i = 0; i < settings.size(); ++i) {
    std::string other = settings;
    other[i] = static_cast<char>(other[i] + 1);
    EXPECT_FALSE(begin_with_settings(other)) << i;
  }
}

TEST(FirstBytes, G7_timeout_classifies_a_partial_request_as_opaque_and_an_empty_connection_as_silent) {
  EXPECT_EQ(detect_by_first_bytes({"", false, false}, tunnel, 100), DetectedProtocol::more);
  EXPECT_EQ(detect_by_first_bytes({"", false, true}, tunnel, 100), DetectedProtocol::silence);
  EXPECT_EQ(detect_by_first_bytes({"\x16", false, true}, tunnel, 100), DetectedProtocol::opaque);
  EXPECT_EQ(detect_by_first_bytes({"GET / HT", false, true}, tunnel, 100), DetectedProtocol::opaque);
  EXPECT_EQ(detect_by_first_bytes({"GET / HTTP/1.1\r\n", false, true}, tunnel, 100), DetectedProtocol::http);
}

TEST(FirstBytes, G7_request_line_with_a_target_over_the_limit_is_opaque_at_once) {
  const std::string line = "GET /" + std::string(99, 'a');
  EXPECT_EQ(detect_by_first_bytes({line}, tunnel, 100), DetectedProtocol::more);
  EXPECT_EQ(detect_by_first_bytes({line + "a"}, tunnel, 100), DetectedProtocol::opaque);
}

RequestHead parsed(const std::string& text) {
  RequestHead head;
  EXPECT_EQ(parse_request(text, {}, head), Parsed{Progress::complete}) << text;
  return head;
}

TEST(FirstBytes, tunnelled_request_goes_to_the_tunnel_upstream_with_its_own_host) {
  const std::string text = "GET /a?b HTTP/1.1\r\nHost: other.test\r\n\r\n";
  const RequestHead head = parsed(text);
  const Intake intake = take_tunnelled(head, tunnel);
  const auto* forward = std::get_if<Forward>(&intake);
  ASSERT_NE(forward, nullptr);
  EXPECT_EQ(forward->host, "api.test");
  EXPECT_EQ(forward->port, 8080);
  EXPECT_EQ(forward->host_field, "");
  EXPECT_EQ(forward->target.path_and_query, "/a?b");
}

TEST(FirstBytes, tunnelled_request_without_host_gets_the_connect_authority) {
  const std::string text = "GET / HTTP/1.0\r\n\r\n";
  const RequestHead head = parsed(text);
  const Intake intake = take_tunnelled(head, tunnel);
  ASSERT_TRUE(std::holds_alternative<Forward>(intake));
  EXPECT_EQ(std::get<Forward>(intake).host_field, "api.test:8080");
}

TEST(FirstBytes, tunnelled_request_for_another_authority_is_rejected) {
  for (const auto& [text, cause] : std::vector<std::pair<std::string, Rejection>>{
           {"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n", Rejection::bad_target},
           {"GET https://api.test:8080/ HTTP/1.1\r\nHost: api.test\r\n\r\n", Rejection::bad_target},
           {"CONNECT other.test:443 HTTP/1.1\r\nHost: other.test\r\n\r\n", Rejection::bad_method}}) {
    const RequestHead head = parsed(text);
    const Intake intake = take_tunnelled(head, tunnel);
    ASSERT_TRUE(std::holds_alternative<Rejected>(intake)) << text;
    EXPECT_EQ(std::get<Rejected>(intake).cause, cause) << text;
  }
}

TEST(FirstBytes, J4_tunnelled_request_with_max_forwards_0_gets_a_local_response) {
  const std::string last = "OPTIONS * HTTP/1.1\r\nHost: api.test\r\nMax-Forwards: 0\r\n\r\n";
  EXPECT_TRUE(std::holds_alternative<Respond>(take_tunnelled(parsed(last), tunnel)));
  const std::string odd = "OPTIONS * HTTP/1.1\r\nHost: api.test\r\nMax-Forwards: x\r\n\r\n";
  const Intake intake = take_tunnelled(parsed(odd), tunnel);
  ASSERT_TRUE(std::holds_alternative<Rejected>(intake));
  EXPECT_EQ(std::get<Rejected>(intake).cause, Rejection::bad_max_forwards);
}

TEST(FirstBytes, redirected_request_is_forwarded_to_the_name_in_its_host_field_and_the_dialled_port) {
  const auto host_of = [](const std::string& text) {
    RequestHead head = parsed(text);
    for (FieldLine& field : head.fields) {
      if (field.value == "unreadable") field.value = "a b";  // the framing guard would reject this value
    }
    const Intake intake = take_redirected(head, {"10.0.0.1", 8080, "10.0.0.1:8080"});
    const auto* const forward = std::get_if<Forward>(&intake);
    return forward == nullptr ? std::string("refused")
                              : std::string(forward->host) + ":" + std::to_string(forward->port);
  };
  EXPECT_EQ(host_of("GET /x HTTP/1.1\r\nHost: shop.test\r\n\r\n"), "shop.test:8080");
  EXPECT_EQ(host_of("GET /x HTTP/1.1\r\nHost: shop.test:81\r\n\r\n"), "shop.test:8080")
      << "the port that was dialled";
  EXPECT_EQ(host_of("GET /x HTTP/1.1\r\nHost: unreadable\r\n\r\n"), "10.0.0.1:8080");
  EXPECT_EQ(host_of("GET /x HTTP/1.0\r\n\r\n"), "10.0.0.1:8080");
  EXPECT_EQ(host_of("CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n"), "refused");
}

}  // namespace
}  // namespace reprise::http
