// Tests which addresses are never dialled, in every form in which one address can contain another.
#include "proxy/net/upstream/address_filter.hpp"

#include <gtest/gtest.h>

#include "proxy/http/message/metadata_service.hpp"

namespace reprise::net {
namespace {

tcp::endpoint at(const std::string& address, std::uint16_t port = 80) {
  return {asio::ip::make_address(address), port};
}

class DeniedByDefault : public ::testing::TestWithParam<std::string> {};
TEST_P(DeniedByDefault, H1_denied_address_is_denied_also_if_an_ipv6_address_embeds_it) {
  const AddressFilter filter(config::Deny{}, {});
  EXPECT_EQ(filter.judge(at(GetParam())), AddressVerdict::denied);
}
INSTANTIATE_TEST_SUITE_P(AddressFilter, DeniedByDefault,
                         ::testing::Values("169.254.169.254", "169.254.0.0", "169.254.255.255",
                                           "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe",
                                           "2002:a9fe:a9fe::", "2002:a9fe:a9fe::1", "::a9fe:a9fe", "fe80::1",
                                           "febf:ffff::1", "fd00:ec2::254", "100.100.100.200",
                                           "192.0.0.192"));

class OpenByDefault : public ::testing::TestWithParam<std::string> {};
TEST_P(OpenByDefault, H1_address_that_only_resembles_a_denied_address_is_allowed) {
  const AddressFilter filter(config::Deny{}, {});
  EXPECT_EQ(filter.judge(at(GetParam())), AddressVerdict::allowed);
}
INSTANTIATE_TEST_SUITE_P(AddressFilter, OpenByDefault,
                         ::testing::Values("169.253.255.255", "169.255.0.0", "127.0.0.1", "10.0.0.1", "::1",
                                           "64:ff9b::808:808", "64:ff9c::a9fe:a9fe",
                                           "2003:a9fe:a9fe::", "fec0::1", "fd00:ec2::255", "::ffff:8.8.8.8",
                                           "::8.8.8.8", "1::a9fe:a9fe"));

class DeniedInside : public ::testing::TestWithParam<std::string> {};
TEST_P(DeniedInside, L31_denied_address_is_denied_in_every_ipv6_form_that_embeds_it) {
  EXPECT_EQ(AddressFilter(config::Deny{}, {}).judge(at(GetParam())), AddressVerdict::denied);
}
INSTANTIATE_TEST_SUITE_P(AddressFilter, DeniedInside,
                         ::testing::Values("64:ff9b:1::a9fe:a9fe", "64:ff9b:1:7:8:9:a9fe:a9fe",  // RFC 8215
                                           "::ffff:0:a9fe:a9fe", "::ffff:0:169.254.0.1",         // SIIT
                                           "2001:db8::5efe:a9fe:a9fe", "2001:db8::200:5efe:a9fe:a9fe",
                                           "64:ff9b:1:a9fe:a9:fe00::",         // RFC 6052, /48 prefix
                                           "64:ff9b:1:a9fe:a9:fe77:1:1",       // /48 prefix, non-zero suffix
                                           "64:ff9b:1:a9:fe:a9fe::",           // RFC 6052, /56 prefix
                                           "64:ff9b:1:7:a9:fea9:fe00:0",       // RFC 6052, /64 prefix
                                           "64:ff9b:1:0:0:5efe:a9fe:1",        // ISATAP
                                           "2002:808:808:0:0:5efe:a9fe:a9fe",  // ISATAP in a 6to4 prefix
                                           "2001::5601:5601", "2001:0:53aa:64c:0:fbff:5601:5601"));  // Teredo

class PublicInside : public ::testing::TestWithParam<std::string> {};
TEST_P(PublicInside, L31_public_address_embedded_in_an_ipv6_address_is_allowed) {
  EXPECT_EQ(AddressFilter(config::Deny{}, {}).judge(at(GetParam())), AddressVerdict::allowed);
}
INSTANTIATE_TEST_SUITE_P(AddressFilter, PublicInside,
                         ::testing::Values("64:ff9b::808:808", "64:ff9b:1::808:808", "::ffff:0:8.8.8.8",
                                           "2001:db8::5efe:808:808", "2001:db8::200:5efe:808:808",
                                           "2001::f7f7:f7f7",  // Teredo of 8.8.8.8
                                           "2001::a9fe:a9fe",  // Teredo of 86.1.86.1 (Teredo inverts bits)
                                           "64:ff9b:2::a9fe:a9fe",  // not a NAT64 prefix
                                           "64:ff9b:1:808:8:800::", "64:ff9b:1:8:8:808::",
                                           "64:ff9b:1:a9:fe00:0:808:808",  // RFC 6052 skips byte 8
                                           "::ffff:1:a9fe:a9fe",           // not SIIT
                                           "2001:db8::100:5efe:a9fe:a9fe", "2001:db8::5eff:a9fe:a9fe",
                                           "2001:db8::1:5efe:a9fe:a9fe",  // not ISATAP
                                           "2001:1::5601:5601", "::1"));

TEST(AddressFilter, L31_ipv6_address_that_embeds_the_address_of_an_own_listener_counts_as_self) {
  const AddressFilter filter(config::Deny{}, {at("127.0.0.1", 3128)});
  for (const char* text :
       {"64:ff9b:1::7f00:1", "::ffff:0:127.0.0.1", "2001:db8::5efe:7f00:1", "2001::80ff:fffe"}) {
    EXPECT_EQ(filter.judge(at(text, 3128)), AddressVerdict::self) << text;
    EXPECT_EQ(filter.judge(at(text, 80)), AddressVerdict::allowed) << text;
  }
}

config::Deny deny_only(std::string network) {
  config::Deny deny;
  deny.networks = {std::move(network)};
  return deny;
}

// connect(2) treats an unspecified address as loopback.
TEST(AddressFilter, H4_unspecified_address_is_denied_if_loopback_is) {
  for (const char* network : {"127.0.0.0/8", "::1/128", "127.0.0.1"}) {
    const AddressFilter filter(deny_only(network), {});
    for (const char* text : {"0.0.0.0", "::", "::ffff:0.0.0.0", "::ffff:0:0"})
      EXPECT_EQ(filter.judge(at(text)), AddressVerdict::denied) << network << ' ' << text;
    for (const char* text : {"0", "0x0", "0.0", "00.0.0.0", "0.", "::", "::ffff:0:0", "::ffff:0.0.0.0"})
      EXPECT_EQ(filter.judge_unresolved(text, 80), AddressVerdict::denied) << network << ' ' << text;
    // The zeros between a NAT64 prefix and its embedded IPv4 address must not be taken for the address
    // 0.0.0.0.
    for (const char* text : {"64:ff9b:1::808:808", "64:ff9b::808:808", "0.0.0.1", "1.0.0.0"})
      EXPECT_EQ(filter.judge(at(text)), AddressVerdict::allowed) << network << ' ' << text;
  }
  EXPECT_EQ(AddressFilter(deny_only("0.0.0.0/8"), {}).judge(at("0.0.0.0")), AddressVerdict::denied);
  EXPECT_EQ(AddressFilter(deny_only("0.0.0.0/8"), {}).judge(at("64:ff9b:1::808:808")),
            AddressVerdict::allowed);
  EXPECT_EQ(AddressFilter(deny_only("::/128"), {}).judge(at("::")), AddressVerdict::denied);
}

TEST(AddressFilter, H4_ipv6_address_with_a_zone_is_judged_like_the_address_without_it) {
  const AddressFilter filter(deny_only("127.0.0.0/8"), {at("::1", 3128)});
  EXPECT_EQ(filter.judge(at("::1%1", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("::ffff:127.0.0.1%1")), AddressVerdict::denied);
  EXPECT_EQ(filter.judge(at("::%1")), AddressVerdict::denied);
}

// The metadata services that clients must reach directly are exactly those on the default deny list.
TEST(AddressFilter, N20_default_deny_list_contains_every_metadata_service) {
  const AddressFilter filter(config::Deny{}, {});
  for (const std::string_view service : http::metadata_services) {
    ErrorCode is_a_name;
    const auto literal = asio::ip::make_address(service, is_a_name);
    if (is_a_name) continue;
    EXPECT_EQ(filter.judge({literal, 80}), AddressVerdict::denied) << service;
  }
  for (const std::string& network : config::Deny{}.networks) {
    const std::size_t slash = network.find('/');
    const bool is_one_host =
        network.substr(slash) == (network.find(':') == std::string::npos ? "/32" : "/128");
    EXPECT_TRUE(!is_one_host || http::is_metadata_service(network.substr(0, slash))) << network;
  }
}

TEST(AddressFilter, H1_prefixes_of_any_length_match_exactly) {
  const AddressFilter eleven(deny_only("172.32.0.0/11"), {});
  EXPECT_EQ(eleven.judge(at("172.32.0.1")), AddressVerdict::denied);
  EXPECT_EQ(eleven.judge(at("172.63.255.255")), AddressVerdict::denied);
  EXPECT_EQ(eleven.judge(at("172.31.255.255")), AddressVerdict::allowed);
  EXPECT_EQ(eleven.judge(at("172.64.0.0")), AddressVerdict::allowed);
  const AddressFilter one_host(deny_only("10.1.2.3"), {});
  EXPECT_EQ(one_host.judge(at("10.1.2.3")), AddressVerdict::denied);
  EXPECT_EQ(one_host.judge(at("10.1.2.2")), AddressVerdict::allowed);
  const AddressFilter all(deny_only("0.0.0.0/0"), {});
  EXPECT_EQ(all.judge(at("1.2.3.4")), AddressVerdict::denied);
  EXPECT_EQ(all.judge(at("::ffff:1.2.3.4")), AddressVerdict::denied);
  EXPECT_EQ(all.judge(at("2001:db8::1")), AddressVerdict::allowed);
  const AddressFilter odd(deny_only("2001:db8:8000::/33"), {});
  EXPECT_EQ(odd.judge(at("2001:db8:8000::1")), AddressVerdict::denied);
  EXPECT_EQ(odd.judge(at("2001:db8:7fff::1")), AddressVerdict::allowed);
}

TEST(AddressFilter, H4_own_listener_counts_as_self_only_at_its_port) {
  const AddressFilter filter(config::Deny{}, {at("127.0.0.1", 3128), at("::1", 3129)});
  EXPECT_EQ(filter.judge(at("127.0.0.1", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("::ffff:127.0.0.1", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("64:ff9b::7f00:1", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("::1", 3129)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("127.0.0.1", 3129)), AddressVerdict::allowed);
  EXPECT_EQ(filter.judge(at("127.0.0.2", 3128)), AddressVerdict::allowed);
}

TEST(AddressFilter, H4_unspecified_address_counts_as_every_own_listener) {
  const AddressFilter filter(config::Deny{}, {at("127.0.0.1", 3128)});
  EXPECT_EQ(filter.judge(at("0.0.0.0", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("::", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("::ffff:0.0.0.0", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("0.0.0.0", 80)), AddressVerdict::allowed);
}

TEST(AddressFilter, H4_wildcard_listener_counts_as_self_at_every_local_address) {
  const AddressFilter filter(config::Deny{}, {at("0.0.0.0", 3128)});
  EXPECT_EQ(filter.judge(at("127.0.0.1", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("127.9.9.9", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("0.0.0.0", 3128)), AddressVerdict::self);
  EXPECT_EQ(filter.judge(at("192.0.2.77", 3128)), AddressVerdict::allowed);
  const AddressFilter both(config::Deny{}, {at("::", 3128)});
  EXPECT_EQ(both.judge(at("::1", 3128)), AddressVerdict::self);
  EXPECT_EQ(both.judge(at("127.0.0.1", 3128)), AddressVerdict::self);
}

TEST(AddressFilter, H4_own_listeners_can_be_allowed_while_denied_networks_stay_denied) {
  config::Deny deny;
  deny.self = false;
  const AddressFilter filter(deny, {at("127.0.0.1", 3128)});
  EXPECT_EQ(filter.judge(at("127.0.0.1", 3128)), AddressVerdict::allowed);
  EXPECT_EQ(filter.judge(at("169.254.1.1", 3128)), AddressVerdict::denied);
}

TEST(AddressFilter, H4_own_listener_in_a_denied_network_counts_as_denied_and_not_as_self) {
  const AddressFilter filter(deny_only("127.0.0.0/8"), {at("127.0.0.1", 3128)});
  EXPECT_EQ(filter.judge(at("127.0.0.1", 3128)), AddressVerdict::denied);
}

// Texts that only inet_aton(3) accepts as addresses (row H2) are names for the resolver. The filter judges
// the addresses that the resolver returns.
TEST(AddressFilter, H2_only_canonical_literals_are_parsed_as_addresses) {
  ErrorCode error;
  for (const char* text : {"2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "127.1"}) {
    asio::ip::make_address(text, error);
    EXPECT_TRUE(error) << text;
  }
}

}  // namespace
}  // namespace reprise::net
