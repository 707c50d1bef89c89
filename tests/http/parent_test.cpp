// Tests request heads for a parent proxy: absolute-form, Proxy-Authorization, and CONNECT.
#include "proxy/http/http1/parent.hpp"

#include <gtest/gtest.h>

#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/intake.hpp"
#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

string absolute(const string& text, std::string_view authorization = {}) {
  const ReadRequest read(text);
  const Intake intake = take_forward(read.head, {});
  const auto& forward = std::get<Forward>(intake);
  string out;
  write_request_head(read.head, forward, "reprise-x1", false, out);
  make_absolute(forward.host, forward.port, authorization, out);
  return out;
}

TEST(ParentHead, request_to_the_parent_is_in_absolute_form) {
  EXPECT_EQ(absolute("GET http://h/a?b=%20c HTTP/1.1\r\nHost: h\r\nA: 1\r\n\r\n"),
            "GET http://h/a?b=%20c HTTP/1.1\r\nHost: h\r\nA: 1\r\nVia: 1.1 reprise-x1\r\n");
  EXPECT_EQ(absolute("GET http://h:8080?q HTTP/1.1\r\nHost: h:8080\r\n\r\n"),
            "GET http://h:8080/?q HTTP/1.1\r\nHost: h:8080\r\nVia: 1.1 reprise-x1\r\n");
  EXPECT_EQ(absolute("GET http://h:80/ HTTP/1.1\r\nHost: h:80\r\n\r\n"),
            "GET http://h/ HTTP/1.1\r\nHost: h:80\r\nVia: 1.1 reprise-x1\r\n");
  EXPECT_EQ(absolute("GET http://[::1]:81/ HTTP/1.1\r\nHost: [::1]:81\r\n\r\n"),
            "GET http://[::1]:81/ HTTP/1.1\r\nHost: [::1]:81\r\nVia: 1.1 reprise-x1\r\n");
  EXPECT_EQ(absolute("GET http://h:8080/ HTTP/1.0\r\n\r\n"),
            "GET http://h:8080/ HTTP/1.1\r\nHost: h:8080\r\nVia: 1.0 reprise-x1\r\n");
}

TEST(ParentHead, server_wide_options_request_to_the_parent_has_no_path) {
  EXPECT_EQ(absolute("OPTIONS http://h:8080 HTTP/1.1\r\nHost: h:8080\r\n\r\n"),
            "OPTIONS http://h:8080 HTTP/1.1\r\nHost: h:8080\r\nVia: 1.1 reprise-x1\r\n");
}

TEST(ParentHead, request_to_the_parent_replaces_the_clients_proxy_authorization_by_the_configured_value) {
  EXPECT_EQ(
      absolute("GET http://h/ HTTP/1.1\r\nHost: h\r\nProxy-Authorization: Basic theirs\r\n\r\n",
               "Basic ours"),
      "GET http://h/ HTTP/1.1\r\nHost: h\r\nVia: 1.1 reprise-x1\r\nProxy-Authorization: Basic ours\r\n");
}

string connect(const string& text, std::string_view host, std::uint16_t port,
               std::string_view authorization = {}) {
  const ReadRequest read(text);
  string out;
  write_connect(read.head, host, port, authorization, "reprise-x1", out);
  return out;
}

TEST(ParentConnect, connect_to_the_parent_copies_no_field_of_the_request_except_via) {
  EXPECT_EQ(connect("GET http://h/ HTTP/1.1\r\nHost: h\r\nCookie: a\r\nAuthorization: b\r\n\r\n", "h", 443),
            "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nVia: 1.1 reprise-x1\r\n\r\n");
  EXPECT_EQ(connect("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nProxy-Authorization: Basic theirs\r\n\r\n",
                    "::1", 8443, "Basic ours"),
            "CONNECT [::1]:8443 HTTP/1.1\r\nHost: [::1]:8443\r\nVia: 1.1 reprise-x1\r\n"
            "Proxy-Authorization: Basic ours\r\n\r\n");
}

TEST(ParentConnect, connect_to_the_parent_records_the_client_http_version_in_via) {
  EXPECT_EQ(connect("CONNECT h:443 HTTP/1.0\r\n\r\n", "h", 443),
            "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nVia: 1.0 reprise-x1\r\n\r\n");
  const string text = "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n";
  ReadRequest read(text);
  read.head.over_http2 = true;
  string out;
  write_connect(read.head, "h", 443, "", "reprise-x1", out);
  EXPECT_EQ(out, "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nVia: 2.0 reprise-x1\r\n\r\n");
}

TEST(ParentConnect, H5_connect_to_the_parent_keeps_the_via_field_for_loop_detection) {
  EXPECT_EQ(
      connect("CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nVia: 1.1 a, 1.0 b\r\nvia:1.1 c\r\n\r\n", "h", 443),
      "CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\nVia: 1.1 a, 1.0 b\r\nVia: 1.1 c\r\nVia: 1.1 "
      "reprise-x1\r\n\r\n");
}

}  // namespace
}  // namespace reprise::http
