// Tests names with several addresses through the whole proxy: which addresses are dialled, which connection
// carries the request, and what is reported.
#include "proxy/net/dial/happy_eyeballs.hpp"
#include "tests/support/black_hole.hpp"
#include "tests/support/descriptors.hpp"
#include "tests/support/names.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

using play::BlackHole;

net::Resolver::Query resolves_to(std::vector<std::string> addresses) {
  return [addresses](const net::Resolver::Question& question) {
    net::Found found;
    for (const auto& address : addresses) found.list.push_back(asio::ip::make_address(address));
    question.complete(found);
  };
}

/// Returns settings with one attempt, no deadline and a connect_timeout that no test reaches.
Wishes patient(std::vector<std::string> addresses) {
  Wishes wishes;
  wishes.route.retry.max_attempts = 1;
  wishes.route.retry.deadline.reset();
  wishes.route.connect_timeout = std::chrono::hours(1);
  wishes.query = resolves_to(std::move(addresses));
  return wishes;
}

std::string at_name(std::uint16_t port) { return "up.test:" + std::to_string(port); }

void expect_one_attempt(const RunningProxy& proxy, const WireResponse& got, std::string_view outcome) {
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  const std::string series =
      "reprise_attempts_total{route=\"default\",outcome=\"" + std::string(outcome) + "\"}";
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(series) == 1; })) << proxy.metrics();
}

TEST(ProxyAddresses, D12_next_address_is_dialled_when_one_refuses) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, "third"));
    }
  });
  RunningProxy proxy(patient({"127.0.0.2", "127.0.0.3", "127.0.0.1"}));
  const WireResponse got = proxy.client().ask(play::with_body("POST", at_name(upstream.port()), "order"));
  EXPECT_EQ(got.body, "third");
  expect_one_attempt(proxy, got, "2xx");
  EXPECT_EQ(heard.size(), 1U);
}

TEST(ProxyAddresses, D12_unresponsive_address_does_not_delay_the_next) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, "third"));
    }
  });
  const BlackHole first("127.0.0.2", upstream.port());
  const BlackHole second("127.0.0.3", upstream.port());
  RunningProxy proxy(patient({"127.0.0.2", "127.0.0.3", "127.0.0.1", "127.0.0.4"}));
  const std::size_t before = play::open_descriptors();
  RawClient client = proxy.client();
  const Instant asked = net::Clock::now();
  const WireResponse got = client.ask(play::with_body("POST", at_name(upstream.port()), "order"));
  EXPECT_GE(net::Clock::now() - asked, 2 * net::dial_stagger) << "each had its time alone";
  EXPECT_EQ(got.body, "third");
  expect_one_attempt(proxy, got, "2xx");
  EXPECT_EQ(heard.size(), 1U);
  EXPECT_EQ(upstream.connections(), 1U);
  // The four descriptors are both ends of the client connection and both ends of the upstream connection. All
  // other dials are closed.
  EXPECT_TRUE(play::eventually([&] { return play::open_descriptors() == before + 4; }))
      << play::open_descriptors() - before;
}

TEST(ProxyAddresses, D12_winning_connection_serves_the_next_request) {
  ScriptedUpstream upstream(play::responses({response(200, "one"), response(200, "two")}));
  const BlackHole hole("127.0.0.2", upstream.port());
  RunningProxy proxy(patient({"127.0.0.2", "127.0.0.1"}));
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(at_name(upstream.port()))).body, "one");
  EXPECT_EQ(client.ask(play::get(at_name(upstream.port()))).body, "two");
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyAddresses, L1_retry_resolves_a_failed_name_again) {
  ScriptedUpstream upstream(play::responses({response(200, "there")}));
  play::Names names;
  names.set("up.test", {asio::ip::make_address("127.0.0.1")});
  names.fail("up.test", 1);
  Wishes wishes;
  wishes.query = names.query();
  RunningProxy proxy(std::move(wishes));
  const WireResponse got = proxy.client().ask(play::with_body("POST", at_name(upstream.port()), "order"));
  EXPECT_EQ(got.body, "there");
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  EXPECT_EQ(names.asked("up.test"), 2);
}

TEST(ProxyAddresses, L2_retry_resolves_a_name_again_after_a_failed_dial) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    peer.send(response(200, "moved"));
  });
  std::atomic<int> asked{0};
  Wishes wishes;
  wishes.query = [&](const net::Resolver::Question& question) {
    const bool moved = ++asked > 1;
    question.complete({{asio::ip::make_address(moved ? "127.0.0.1" : "127.0.0.2")}});
  };
  RunningProxy proxy(std::move(wishes));
  const WireResponse got = proxy.client().ask(play::with_body("POST", at_name(upstream.port()), "order"));
  EXPECT_EQ(got.body, "moved");
  EXPECT_EQ(got.field("Reprise-Attempts"), "2");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(heard.size(), 1U);
}

TEST(ProxyAddresses, D12_each_address_has_its_own_connect_timeout_within_one_attempt) {
  const play::RefusingPort port;
  const BlackHole first("127.0.0.2", port.number());
  const BlackHole second("127.0.0.3", port.number());
  Wishes wishes = patient({"127.0.0.1", "127.0.0.2", "127.0.0.3"});
  wishes.route.connect_timeout = milliseconds(300);
  RunningProxy proxy(std::move(wishes));
  const Instant asked = net::Clock::now();
  const WireResponse got = proxy.client().ask(play::get(at_name(port.number())));
  EXPECT_GE(net::Clock::now() - asked, net::dial_stagger + milliseconds(300));
  EXPECT_EQ(got.status, 504);
  EXPECT_NE(got.field("Proxy-Status").find("connection_timeout"), std::string::npos) << got.head;
  expect_one_attempt(proxy, got, "connect");
}

TEST(ProxyAddresses, D12_D14_client_that_leaves_ends_every_dial) {
  const play::RefusingPort port;
  const BlackHole first("127.0.0.2", port.number());
  const BlackHole second("127.0.0.3", port.number());
  RunningProxy proxy(patient({"127.0.0.2", "127.0.0.3"}));
  const std::size_t before = play::open_descriptors();
  RawClient client = proxy.client();
  client.send(play::get(at_name(port.number())));
  EXPECT_TRUE(play::eventually([&] { return play::open_descriptors() == before + 4; })) << "both are dialled";
  client.socket().reset();
  EXPECT_TRUE(play::eventually([&] { return play::open_descriptors() == before; }));
}

TEST(ProxyAddresses, D12_I13_both_address_families_are_among_the_sixteen_dialled) {
  ScriptedUpstream upstream(play::responses({response(200, "of the other family")}));
  std::vector<std::string> addresses(20, "::1");
  addresses.emplace_back("127.0.0.1");
  RunningProxy proxy(patient(addresses));
  const WireResponse got = proxy.client().ask(play::get(at_name(upstream.port())));
  EXPECT_EQ(got.body, "of the other family");
  expect_one_attempt(proxy, got, "2xx");
}

TEST(ProxyAddresses, H3_only_allowed_addresses_are_dialled) {
  ScriptedUpstream upstream(play::responses({response(200, "allowed")}));
  RunningProxy proxy(patient({"169.254.169.254", "::ffff:169.254.169.254", "127.0.0.1", "fe80::1"}));
  const WireResponse got = proxy.client().ask(play::get(at_name(upstream.port())));
  EXPECT_EQ(got.body, "allowed");
  expect_one_attempt(proxy, got, "2xx");
}

TEST(ProxyAddresses, H3_refused_connection_is_reported_rather_than_a_denied_address) {
  const play::RefusingPort port;
  for (const std::vector<std::string>& addresses :
       {std::vector<std::string>{"169.254.169.254", "127.0.0.1"}, {"127.0.0.1", "169.254.169.254"}}) {
    RunningProxy proxy(patient(addresses));
    const WireResponse got = proxy.client().ask(play::get(at_name(port.number())));
    EXPECT_EQ(got.status, 502);
    EXPECT_NE(got.field("Proxy-Status").find("connection_refused"), std::string::npos) << got.head;
  }
}

TEST(ProxyAddresses, H4_name_that_also_resolves_to_the_proxy_is_a_loop) {
  for (const std::vector<std::string>& addresses :
       {std::vector<std::string>{"127.0.0.1", "127.0.0.2"}, {"127.0.0.2", "127.0.0.1"}}) {
    RunningProxy proxy(patient(addresses));
    EXPECT_EQ(proxy.client().ask(play::get(at_name(proxy.port()))).status, 508);
  }
}

TEST(ProxyAddresses, H1_H2_H4_H6_denied_and_own_addresses_are_rejected_without_a_retry) {
  Wishes wishes;
  wishes.query = resolves_to({"169.254.169.254"});
  RunningProxy proxy(std::move(wishes));
  for (const char* host : {"169.254.169.254", "[::ffff:169.254.169.254]", "[64:ff9b::a9fe:a9fe]",
                           "metadata.test", "2852039166", "0xa9fea9fe", "METADATA.test"}) {
    const WireResponse got = proxy.client().ask(play::get(host));
    EXPECT_EQ(got.status, 403) << host;
    EXPECT_EQ(got.field("Reprise-Reason"), "address_denied") << host;
    EXPECT_NE(got.field("Proxy-Status").find("destination_ip_prohibited"), std::string::npos) << got.head;
    EXPECT_EQ(got.body.find("169.254"), std::string::npos);  // row H9
  }
  for (const std::string host : {"127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]"}) {
    const WireResponse got = proxy.client().ask(play::get(host + ":" + std::to_string(proxy.port())));
    EXPECT_EQ(got.status, 508) << host;
    const WireResponse admin =
        proxy.client().ask(play::get(host + ":" + std::to_string(proxy.admin_port()), "/metrics"));
    EXPECT_EQ(admin.status, 508) << host;
  }
}

TEST(ProxyAddresses, I13_at_most_sixteen_addresses_are_dialled) {
  ScriptedUpstream upstream(play::responses({response(200, "the last of them")}));
  std::vector<std::string> addresses;
  for (int i = 2; i < 17; ++i) addresses.push_back("127.0.0." + std::to_string(i));
  addresses.emplace_back("127.0.0.1");
  {
    RunningProxy proxy(patient(addresses));
    EXPECT_EQ(proxy.client().ask(play::get(at_name(upstream.port()))).body, "the last of them");
  }
  addresses.insert(addresses.begin(), "127.0.0.17");
  RunningProxy proxy(patient(addresses));
  EXPECT_EQ(proxy.client().ask(play::get(at_name(upstream.port()))).status, 502);
}

}  // namespace
}  // namespace reprise::server
