// Tests authorities and targets: which are rejected, and which stay byte for byte.
#include "proxy/http/message/target.hpp"

#include <gtest/gtest.h>

#include "tests/http/reading.hpp"

namespace reprise::http {
namespace {

using std::string;

Rejection refusal_of(const string& authority, std::uint16_t default_port = 80) {
  const auto split = split_authority(authority, default_port);
  const Rejection* const cause = std::get_if<Rejection>(&split);
  EXPECT_NE(cause, nullptr) << authority;
  return cause == nullptr ? Rejection::loop : *cause;
}

TEST(Target, A12_malformed_authorities_are_rejected) {
  const string bad[] = {"a,b",
                        "h/x",
                        "%00",
                        "a%2eb",
                        "a b",
                        "h:1:2",
                        "[::1",
                        "::1",
                        "[::1]x",
                        "[fe80::1%eth0]",
                        "[1]",
                        "[]",
                        "[v1.x]",
                        "h:0",
                        "h:65536",
                        "h:-1",
                        "h:+1",
                        "h:0x50",
                        "h:99999999999999999999",
                        "h\\",
                        "\xc3\xa9"};
  for (const string& text : bad) EXPECT_EQ(refusal_of(text), Rejection::bad_authority) << text;
  for (const string text : {"u@h", "u:p@h:80", "@h", "a@b@c"})
    EXPECT_EQ(refusal_of(text), Rejection::userinfo_in_authority);
}

TEST(Target, A13_empty_and_overlong_hosts_are_rejected) {
  EXPECT_EQ(refusal_of(""), Rejection::bad_authority);
  EXPECT_EQ(refusal_of(":80"), Rejection::bad_authority);
  EXPECT_EQ(refusal_of("."), Rejection::bad_authority);
  EXPECT_EQ(refusal_of(".a"), Rejection::bad_authority);
  EXPECT_EQ(refusal_of("a..b"), Rejection::bad_authority);
  EXPECT_EQ(refusal_of(string(64, 'a')), Rejection::bad_authority);
  string longest;
  while (longest.size() < 253) longest += string(std::min<std::size_t>(49, 253 - longest.size()), 'a') + ".";
  longest.resize(253);
  longest.back() = 'z';
  EXPECT_TRUE(std::holds_alternative<Authority>(split_authority(longest, 80)));
  EXPECT_TRUE(std::holds_alternative<Authority>(split_authority(longest + ".", 80)));
  EXPECT_EQ(refusal_of(longest + "z"), Rejection::bad_authority);
  for (const string text : {"http:///x", "http://:80/", "http://", "http://?x"}) {
    EXPECT_EQ(std::get<Rejection>(split_absolute(text)), Rejection::bad_authority) << text;
  }
}

TEST(Target, G1_connect_needs_a_port) {
  for (const string text : {"h", "h:", "[::1]", "h:0", "h:99999", "[::1"}) {
    EXPECT_EQ(refusal_of(text, 0), Rejection::bad_authority) << text;
  }
  EXPECT_EQ(refusal_of("u@h:443", 0), Rejection::userinfo_in_authority);
}

TEST(Target, valid_authorities_are_split_into_host_and_port) {
  const auto named = std::get<Authority>(split_authority("Api.Example.com:8080", 80));
  EXPECT_EQ(named.host, "Api.Example.com");
  EXPECT_EQ(named.port, 8080);
  EXPECT_TRUE(named.port_written);
  EXPECT_FALSE(named.literal_v6);
  const auto bare = std::get<Authority>(split_authority("h", 443));
  EXPECT_EQ(bare.port, 443);
  EXPECT_FALSE(bare.port_written);
  const auto v6 = std::get<Authority>(split_authority("[2001:DB8::1]:65535", 80));
  EXPECT_EQ(v6.host, "2001:DB8::1");
  EXPECT_EQ(v6.port, 65535);
  EXPECT_TRUE(v6.literal_v6);
  EXPECT_EQ(std::get<Authority>(split_authority("[::ffff:10.0.0.1]", 80)).host, "::ffff:10.0.0.1");
  EXPECT_EQ(std::get<Authority>(split_authority("my_host~1-a", 80)).host, "my_host~1-a");
}

TEST(Target, H2_unusual_address_notations_are_passed_to_the_resolver_unchanged) {
  for (const string text :
       {"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "127.1", "H."}) {
    EXPECT_EQ(std::get<Authority>(split_authority(text, 80)).host, text);
  }
}

TEST(Target, absolute_form_target_is_split) {
  const auto target = std::get<Target>(split_absolute("HTTP://h:81/a%2Fb/../c?x=%zz&y[]=1?"));
  EXPECT_EQ(target.authority, "h:81");
  EXPECT_EQ(target.origin.port, 81);
  EXPECT_EQ(target.path, "/a%2Fb/../c");
  EXPECT_EQ(target.query, "x=%zz&y[]=1?");
  EXPECT_EQ(target.path_and_query, "/a%2Fb/../c?x=%zz&y[]=1?");
  EXPECT_FALSE(target.https);
  const auto socket = std::get<Target>(split_absolute("WS://h/chat?a=1"));
  EXPECT_FALSE(socket.https);
  EXPECT_EQ(socket.origin.port, 80);
  EXPECT_EQ(socket.path_and_query, "/chat?a=1");
  const auto secure_socket = std::get<Target>(split_absolute("wss://h/"));
  EXPECT_TRUE(secure_socket.https);
  EXPECT_EQ(secure_socket.origin.port, 443);
  const auto secure = std::get<Target>(split_absolute("https://h/"));
  EXPECT_TRUE(secure.https);
  EXPECT_EQ(secure.origin.port, 443);
  const auto no_path = std::get<Target>(split_absolute("http://h?q"));
  EXPECT_EQ(no_path.path, "");
  EXPECT_EQ(no_path.path_and_query, "?q");
  EXPECT_EQ(std::get<Target>(split_absolute("http://h")).path_and_query, "");
}

TEST(Target, fragment_is_removed_from_the_target) {
  EXPECT_EQ(std::get<Target>(split_absolute("http://h/a?b#c?d")).path_and_query, "/a?b");
  EXPECT_EQ(std::get<Target>(split_absolute("http://h#c")).path_and_query, "");
}

TEST(Target, unsupported_schemes_are_rejected) {
  for (const string text :
       {"ftp://h/", "h:80", "http:/h", "http:h", "httpx://h/", "foo", "wsx://h/", "ws:/h"}) {
    EXPECT_EQ(std::get<Rejection>(split_absolute(text)), Rejection::bad_scheme) << text;
  }
}

TEST(Target, origin_form_and_asterisk_targets_are_split) {
  const auto target = std::get<Target>(split_origin("//evil/a?b"));
  EXPECT_EQ(target.path, "//evil/a");
  EXPECT_EQ(target.query, "b");
  EXPECT_EQ(target.authority, "");
  EXPECT_EQ(std::get<Target>(split_origin("*")).path_and_query, "*");
  EXPECT_EQ(std::get<Rejection>(split_origin("a")), Rejection::bad_target);
  EXPECT_EQ(std::get<Rejection>(split_origin("**")), Rejection::bad_target);
}

}  // namespace
}  // namespace reprise::http
