// Tests SOCKS5: a partial message is parsed as far as it has arrived, and each failure has a reply code.
#include "proxy/forward/tunnel/socks5.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::forward {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

const std::string by_name = bytes({5, 1, 0, 3, 8}) + "api.test" + bytes({1, 187});
const std::string by_v4 = bytes({5, 1, 0, 1, 127, 0, 0, 1, 0, 80});
const std::string by_v6 = bytes({5, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 31, 144});

SocksRequest request_of(const std::string& text) {
  const auto read = read_socks_request(text);
  EXPECT_TRUE(std::holds_alternative<SocksRequest>(read));
  return std::holds_alternative<SocksRequest>(read) ? std::get<SocksRequest>(read) : SocksRequest();
}

TEST(Socks5, incomplete_socks_greeting_waits_for_more_bytes) {
  const std::string greeting = bytes({5, 3, 1, 0, 2});
  for (std::size_t i = 0; i < greeting.size(); ++i)
    EXPECT_TRUE(std::holds_alternative<SocksPartial>(read_socks_greeting(greeting.substr(0, i)))) << i;
  const auto read = read_socks_greeting(greeting + "behind");
  ASSERT_TRUE(std::holds_alternative<SocksGreeting>(read));
  EXPECT_EQ(std::get<SocksGreeting>(read).bytes, 5U);
}

TEST(Socks5, invalid_socks_greetings_are_rejected) {
  EXPECT_EQ(std::get<http::Rejection>(read_socks_greeting("GET / HTTP/1.1")), http::Rejection::socks_version);
  EXPECT_EQ(std::get<http::Rejection>(read_socks_greeting(bytes({4, 1}))), http::Rejection::socks_version);
  EXPECT_EQ(std::get<http::Rejection>(read_socks_greeting(bytes({5, 0}))), http::Rejection::socks_malformed);
  EXPECT_EQ(std::get<http::Rejection>(read_socks_greeting(bytes({5, 2, 1, 2}))),
            http::Rejection::socks_method);
}

TEST(Socks5, incomplete_socks_request_waits_for_more_bytes) {
  for (const std::string& whole : {by_name, by_v4, by_v6}) {
    for (std::size_t i = 0; i < whole.size(); ++i)
      EXPECT_TRUE(std::holds_alternative<SocksPartial>(read_socks_request(whole.substr(0, i)))) << i;
    EXPECT_EQ(request_of(whole + "behind").bytes, whole.size());
  }
  EXPECT_EQ(request_of(by_name).host, "api.test");
  EXPECT_EQ(request_of(by_name).port, 443);
  EXPECT_EQ(request_of(by_v4).host, "127.0.0.1");
  EXPECT_EQ(request_of(by_v4).port, 80);
  EXPECT_EQ(request_of(by_v6).host, "::1");
  EXPECT_EQ(request_of(by_v6).port, 8080);
}

TEST(Socks5, invalid_socks_requests_are_rejected) {
  const std::vector<std::pair<std::string, http::Rejection>> bad{
      {bytes({4}), http::Rejection::socks_malformed},
      {bytes({5, 2}), http::Rejection::socks_command},
      {bytes({5, 3}), http::Rejection::socks_command},
      {bytes({5, 1, 1}), http::Rejection::socks_malformed},
      {bytes({5, 1, 0, 2}), http::Rejection::socks_address},
      {bytes({5, 1, 0, 3, 0}), http::Rejection::socks_malformed},
      {bytes({5, 1, 0, 3, 1}) + " " + bytes({0, 80}), http::Rejection::socks_malformed},
      {bytes({5, 1, 0, 3, 3, 'a', '/', 'b', 0, 80}), http::Rejection::socks_malformed},
      {bytes({5, 1, 0, 3, 3, 'a', 0, 'b', 0, 80}), http::Rejection::socks_malformed},
      {bytes({5, 1, 0, 3, 1, 0x7f, 0, 80}), http::Rejection::socks_malformed},
      {bytes({5, 1, 0, 1, 127, 0, 0, 1, 0, 0}), http::Rejection::socks_malformed},
  };
  for (const auto& [text, cause] : bad) {
    const auto read = read_socks_request(text);
    ASSERT_TRUE(std::holds_alternative<http::Rejection>(read)) << word(cause);
    EXPECT_EQ(std::get<http::Rejection>(read), cause);
  }
}

TEST(Socks5, every_failure_has_its_socks_reply) {
  const auto code = [](const std::string& reply) {
    EXPECT_EQ(reply.size(), 10U);
    return static_cast<int>(reply[1]);
  };
  EXPECT_EQ(socks_method_reply(true), bytes({5, 0}));
  EXPECT_EQ(socks_method_reply(false), bytes({5, 0xff}));
  EXPECT_EQ(code(socks_success()), 0);
  EXPECT_EQ(code(socks_failure(http::Rejection::socks_command)), 7);
  EXPECT_EQ(code(socks_failure(http::Rejection::socks_address)), 8);
  EXPECT_EQ(code(socks_failure(http::Rejection::connect_port_denied)), 2);
  EXPECT_EQ(code(socks_failure(http::Rejection::socks_malformed)), 1);
  // The reply code suggests what the client should do: wait, try another address, or ask the administrator.
  using policy::Cause;
  const std::vector<std::pair<Cause, int>> codes{{Cause::dns_error, 4},
                                                 {Cause::dns_timeout, 4},
                                                 {Cause::refused, 5},
                                                 {Cause::unreachable, 3},
                                                 {Cause::connect_timeout, 4},
                                                 {Cause::no_local_port, 1},
                                                 {Cause::no_descriptor, 1},
                                                 {Cause::address_denied, 2},
                                                 {Cause::address_is_self, 2},
                                                 {Cause::parent_unreachable, 3},
                                                 {Cause::parent_timeout, 4},
                                                 {Cause::parent_refused, 1},
                                                 {Cause::tls_protocol_error, 1},
                                                 {Cause::tls_certificate_error, 1},
                                                 {Cause::tls_alert_received, 1},
                                                 {Cause::closed, 1},
                                                 {Cause::reset, 1},
                                                 {Cause::keepalive_lost, 1},
                                                 {Cause::unacknowledged, 1},
                                                 {Cause::not_http2, 1},
                                                 {Cause::stream_refused, 1},
                                                 {Cause::stream_reset, 1},
                                                 {Cause::goaway, 1},
                                                 {Cause::http_1_1_required, 1},
                                                 {Cause::attempt_timeout, 1},
                                                 {Cause::response_timeout, 1},
                                                 {Cause::malformed_response, 1},
                                                 {Cause::header_too_large, 1},
                                                 {Cause::truncated, 1},
                                                 {Cause::cancelled, 1},
                                                 {Cause::replay_lost, 1}};
  ASSERT_EQ(codes.size(), policy::cause_count);
  for (const auto& [cause, wanted] : codes) EXPECT_EQ(code(socks_failure(cause)), wanted) << word(cause);
}

}  // namespace
}  // namespace reprise::forward
