#include "config/keys/address.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace reprise::config {
namespace {

TEST(EndpointText, endpoint_accepts_only_numeric_addresses) {
  const auto v4 = parse_endpoint("127.0.0.1:3128");
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4.value->address, "127.0.0.1");
  EXPECT_EQ(v4.value->port, 3128);
  const auto v6 = parse_endpoint("[::1]:0");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6.value->address, "::1");
  EXPECT_EQ(v6.value->port, 0);
  EXPECT_EQ(endpoint_text(*v6.value), "[::1]:0");

  EXPECT_EQ(parse_endpoint("localhost:3128").suggestion, "127.0.0.1:3128");
  EXPECT_NE(parse_endpoint("proxy.internal:3128").reason.find("has a host name"), std::string::npos);
  EXPECT_EQ(parse_endpoint("3128").suggestion, "127.0.0.1:3128");
  EXPECT_EQ(parse_endpoint("127.0.0.1").suggestion, "127.0.0.1:3128");
  EXPECT_NE(parse_endpoint("::1:3128").reason.find("without brackets"), std::string::npos);
  for (const char* text : {"", ":", ":3128", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:031",
                           "[127.0.0.1]:1", "[::1:1", "127.1:1", "127.0.0.01:1", "[::1%lo]:1", "0.0.0.0:x"})
    EXPECT_FALSE(parse_endpoint(text)) << text;
}

TEST(Network, network_with_host_bits_set_is_rejected) {
  EXPECT_EQ(parse_network("169.254.0.0/16").value, "169.254.0.0/16");
  EXPECT_EQ(parse_network("fe80::/10").value, "fe80::/10");
  EXPECT_EQ(parse_network("FD00:EC2::254").value, "fd00:ec2::254/128");
  EXPECT_EQ(parse_network("10.1.2.3").value, "10.1.2.3/32");
  EXPECT_EQ(parse_network("0.0.0.0/0").value, "0.0.0.0/0");
  EXPECT_EQ(parse_network("10.0.0.1/8").suggestion, "10.0.0.0/8");
  EXPECT_EQ(parse_network("fe80::1/10").suggestion, "fe80::/10");
  for (const char* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/08", "example.com"})
    EXPECT_FALSE(parse_network(text)) << text;
}

TEST(Ports, ports_are_a_single_port_or_a_range) {
  using Pair = std::pair<std::uint16_t, std::uint16_t>;
  EXPECT_EQ(parse_ports("443").value, Pair(443, 443));
  EXPECT_EQ(parse_ports("1024-65535").value, Pair(1024, 65535));
  EXPECT_NE(parse_ports("2-1").reason.find("is in the wrong order"), std::string::npos);
  for (const char* text : {"", "0", "65536", "-", "1-", "-1", "0443", "1-2-3"})
    EXPECT_FALSE(parse_ports(text)) << text;
}

TEST(Upstream, upstream_url_consists_of_scheme_and_host_and_port_and_path_prefix) {
  const auto whole = parse_upstream("http://Payments.Internal:8080/base/");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole.value->host, "payments.internal");
  EXPECT_EQ(whole.value->port, 8080);
  EXPECT_EQ(whole.value->path_prefix, "/base");
  EXPECT_EQ(upstream_text(*whole.value), "http://payments.internal:8080/base");
  const auto bare = parse_upstream("http://[::1]");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare.value->host, "::1");
  EXPECT_EQ(bare.value->port, 80);
  EXPECT_EQ(bare.value->path_prefix, "");
  EXPECT_EQ(upstream_text(*bare.value), "http://[::1]:80");

  const auto secure = parse_upstream("HTTPS://a.internal/base");
  ASSERT_TRUE(secure);
  EXPECT_TRUE(secure.value->https);
  EXPECT_EQ(secure.value->port, 443);
  EXPECT_EQ(upstream_text(*secure.value), "https://a.internal:443/base");
  EXPECT_EQ(parse_upstream("https://a:80").value->port, 80);
  EXPECT_FALSE(whole.value->https);
  EXPECT_EQ(parse_upstream("a.internal:80").suggestion, "http://a.internal:80");
  EXPECT_NE(parse_upstream("http://").reason.find("write http://host"), std::string::npos);
  for (const char* text : {"", "http://", "http://:80", "http://a:0", "http://a:99999", "http://u@a",
                           "http://a/?q", "http://a/#f", "http://a b", "https://", "https://u@a", "ftp://a",
                           "http://::1", "http://[::1", "http://a..b"})
    EXPECT_FALSE(parse_upstream(text)) << text;
}

TEST(Loopback, only_127_0_0_0_slash_8_and_the_ipv6_loopback_address_are_loopback) {
  EXPECT_TRUE(is_loopback({"127.0.0.1", 1}));
  EXPECT_TRUE(is_loopback({"127.9.9.9", 1}));
  EXPECT_TRUE(is_loopback({"::1", 1}));
  EXPECT_FALSE(is_loopback({"0.0.0.0", 1}));
  EXPECT_FALSE(is_loopback({"::", 1}));
  EXPECT_FALSE(is_loopback({"10.0.0.1", 1}));
}

TEST(Collision, endpoints_collide_on_the_same_port_of_overlapping_addresses) {
  EXPECT_TRUE(collide({"127.0.0.1", 1}, {"127.0.0.1", 1}));
  EXPECT_TRUE(collide({"0.0.0.0", 1}, {"127.0.0.1", 1}));
  EXPECT_TRUE(collide({"::1", 1}, {"0:0::1", 1}));
  EXPECT_FALSE(collide({"127.0.0.1", 1}, {"127.0.0.1", 2}));
  EXPECT_FALSE(collide({"127.0.0.1", 0}, {"127.0.0.1", 0}));
  EXPECT_FALSE(collide({"127.0.0.1", 1}, {"127.0.0.2", 1}));
  EXPECT_FALSE(collide({"127.0.0.1", 1}, {"::1", 1}));
}

}  // namespace
}  // namespace reprise::config
