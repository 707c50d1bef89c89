// Tests which connections are intercepted: the client has to name a listed host (SNI) and to offer HTTP/1.1.
#include "proxy/forward/tunnel/interception.hpp"

#include <gtest/gtest.h>

#include "tests/support/client_hello.hpp"

namespace reprise::forward {
namespace {

using play::client_hello;
using play::extension;
using play::hello_message;
using play::record;
using play::vector;
using telemetry::Interception;

const std::vector<policy::HostPattern> listed{{"api.test"}, {"*.wild.test"}};

std::string server_name(std::string_view name, std::size_t type = 0) {
  return extension(0, vector(std::string(1, static_cast<char>(type)) + vector(name, 2), 2));
}

std::string protocols(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list.append(vector(name, 1));
  return extension(16, vector(list, 2));
}

ClientHello hello_of(const std::string& extensions) {
  const auto read = read_client_hello(record(hello_message(extensions)));
  EXPECT_TRUE(std::holds_alternative<ClientHello>(read));
  return std::holds_alternative<ClientHello>(read) ? std::get<ClientHello>(read) : ClientHello();
}

TEST(ClientHelloWords, server_name_and_protocols_are_parsed) {
  const ClientHello hello = hello_of(server_name("Api.Test") + protocols({"h2", "http/1.1"}));
  EXPECT_EQ(hello.server_name, "Api.Test");
  EXPECT_TRUE(hello.offers_protocols);
  EXPECT_TRUE(hello.offers_http_1_1);
  const ClientHello bare = hello_of(extension(43, "\x02\x03\x04"));
  EXPECT_EQ(bare.server_name, "");
  EXPECT_FALSE(bare.offers_protocols);
  EXPECT_EQ(hello_of({}).server_name, "");
}

TEST(ClientHelloWords, server_name_is_read_although_early_data_or_other_bytes_follow) {
  const std::string hello = client_hello() + record("x") + "\x17\x03\x03";
  const auto read = read_client_hello(hello);
  ASSERT_TRUE(std::holds_alternative<ClientHello>(read));
  EXPECT_EQ(std::get<ClientHello>(read).server_name, "api.test");
  EXPECT_EQ(hello_of(server_name("a.test") + extension(42, "")).server_name, "a.test");
}

TEST(ClientHelloWords, client_hello_split_into_records_anywhere_is_incomplete_until_its_last_byte) {
  const std::string message = hello_message(server_name("api.test") + extension(51, std::string(900, 'k')));
  for (const std::size_t first :
       {message.size(), std::size_t{1}, std::size_t{3}, std::size_t{5}, std::size_t{700}}) {
    const std::string rest = message.substr(first);
    const std::string hello = record(message.substr(0, first)) + (rest.empty() ? "" : record(rest));
    for (std::size_t i = 0; i < hello.size(); ++i) {
      const auto read = read_client_hello(std::string_view(hello).substr(0, i));
      ASSERT_TRUE(std::holds_alternative<Hello>(read)) << i;
      ASSERT_EQ(std::get<Hello>(read), Hello::more) << i;
    }
    ASSERT_TRUE(std::holds_alternative<ClientHello>(read_client_hello(hello)));
  }
}

TEST(ClientHelloWords, malformed_client_hello_is_rejected) {
  const std::string name = server_name("api.test");
  const std::vector<std::string> bad{
      std::string("\x15\x03\x01\0\x02xx", 7),
      std::string("\x16\x02\x01\0\x02xx", 7),
      std::string("\x16\x03\x01\0\0", 5),
      std::string("\x16\x03\x01\x7f\xff", 5),
      record(std::string("\x02\0\0\x01x", 5)),
      record(std::string("\x01\xff\xff\xff", 4)),
      record(std::string("\x01\0\0\x02xx", 6)),
      record(hello_message(name + name)),
      record(hello_message(server_name("api.test", 1))),
      record(hello_message(server_name(""))),
      record(hello_message(extension(0, "\x00\x01"))),
      record(hello_message(extension(0, vector(std::string("\0\0\x01x\0", 5), 2)))),
      record(hello_message(extension(16, "\x00\x02\x01"))),
      record(hello_message(extension(16, vector(std::string("\0", 1), 2)))),
      record(hello_message(extension(16, vector("\x05h2", 2)))),
  };
  for (const std::string& bytes : bad) {
    const auto read = read_client_hello(bytes);
    ASSERT_TRUE(std::holds_alternative<Hello>(read)) << &bytes - bad.data();
    EXPECT_EQ(std::get<Hello>(read), Hello::other) << &bytes - bad.data();
  }
}

TEST(ClientHelloWords, client_hello_that_is_too_long_is_rejected) {
  std::string records;
  for (int i = 0; i < 20; ++i)
    records +=
        record(i == 0 ? std::string("\x01\0\x3f\xff", 4) + std::string(1000, 'x') : std::string(1000, 'x'));
  const auto read = read_client_hello(records);
  ASSERT_TRUE(std::holds_alternative<Hello>(read));
  EXPECT_EQ(std::get<Hello>(read), Hello::other);
}

Interception judged(std::string_view authority, std::string_view name, bool http_1_1 = true,
                    bool alpn = true) {
  return judge_interception(authority, {std::string(name), alpn, http_1_1}, listed, true);
}

TEST(Interception, F11_only_listed_hosts_with_a_matching_server_name_are_intercepted) {
  EXPECT_EQ(judged("api.test", "api.test"), Interception::intercepted);
  EXPECT_EQ(judged("API.test", "api.TEST"), Interception::intercepted);
  EXPECT_EQ(judged("a.wild.test", "a.wild.test"), Interception::intercepted);
  EXPECT_EQ(judged("api.test", "other.test"), Interception::other_server_name);
  EXPECT_EQ(judged("api.test.", "api.test"), Interception::intercepted);
  EXPECT_EQ(judged("api.test", "api.test."), Interception::intercepted);
  EXPECT_EQ(judged("api.test", "api.test.other"), Interception::other_server_name);
  EXPECT_EQ(judged("a.wild.test", "b.wild.test"), Interception::other_server_name);
  EXPECT_EQ(judged("api.test", ""), Interception::no_server_name);
  EXPECT_EQ(judged("other.test", "api.test"), Interception::unlisted);
  EXPECT_EQ(judged("wild.test", "wild.test"), Interception::unlisted);
  EXPECT_EQ(judged("127.0.0.1", "api.test"), Interception::unlisted);
  EXPECT_EQ(judged("other.test", ""), Interception::unlisted);
}

TEST(Interception, F11_redirected_tls_stream_is_intercepted_if_its_server_name_is_listed) {
  EXPECT_EQ(judged("", "api.test"), Interception::intercepted);
  EXPECT_EQ(judged("", "other.test"), Interception::unlisted);
  EXPECT_EQ(judged("", ""), Interception::unlisted);
}

TEST(Interception, M8_client_must_offer_a_version_that_is_read_or_no_protocols) {
  const ClientHello http2{"api.test", true, false, true};
  EXPECT_EQ(judge_interception("api.test", http2, listed, true), Interception::intercepted);
  EXPECT_EQ(judge_interception("api.test", http2, listed, false), Interception::no_http_1_1);
  EXPECT_EQ(judged("api.test", "api.test", false, true), Interception::no_http_1_1);
  EXPECT_EQ(judged("api.test", "api.test", false, false), Interception::intercepted);
}

}  // namespace
}  // namespace reprise::forward
