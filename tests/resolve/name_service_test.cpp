// Tests name look-ups as nsswitch.conf and resolv.conf configure them: c-ares with the test's own name
// server, files, and the C library if it is required.
#include "proxy/net/resolve/name_service.hpp"

#include <fstream>

#include "tests/support/loopback.hpp"
#include "tests/support/metrics.hpp"
#include "tests/support/name_server.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/support/scarce_descriptors.hpp"

namespace reprise::net::name_service_test {
namespace {

using play::NameResponse;
using play::NameServer;

using List = std::vector<asio::ip::address>;

List addresses(const std::vector<std::string>& texts) {
  List list;
  for (const std::string& text : texts) list.push_back(asio::ip::make_address(text));
  return list;
}

List one(const std::string& address) { return addresses({address}); }

NameResponse says(std::vector<std::string> found, std::uint32_t ttl = 300) {
  NameResponse response;
  response.addresses = std::move(found);
  response.ttl = ttl;
  return response;
}

NameResponse fails(int code) {
  NameResponse response;
  response.code = code;
  return response;
}

NameResponse silence() {
  NameResponse response;
  response.silent = true;
  return response;
}

Task<std::shared_ptr<const Addresses>> wait(std::shared_ptr<Lookup> lookup, Duration limit) {
  co_return co_await lookup->wait(limit);
}

class NameServiceTest : public ::testing::Test {
 protected:
  /// Writes the files and starts the service. The C library finds only the name in `library_knows_`.
  void start(const std::string& sources = "hosts: files dns\n", const std::string& resolv = "") {
    write("nsswitch.conf", sources);
    write("resolv.conf", "nameserver 127.0.0.1\n" + resolv);
    const NameFiles files{folder_.path() + "/resolv.conf", folder_.path() + "/nsswitch.conf", server_.port()};
    service_ = std::make_unique<NameService>(files, [this](const std::string& name) {
      ++library_asked_;
      return name == library_knows_ ? Found{one("192.0.2.77")} : Found{};
    });
    resolver_ = std::make_unique<Resolver>(service_->query(), Resolver::Limits(), *metrics_);
  }
  void write(const std::string& file, const std::string& text) {
    std::ofstream(folder_.path() + "/" + file) << text;
  }
  std::shared_ptr<Lookup> ask(const std::string& name) {
    return resolver_->start(name, bench_.io.get_executor());
  }
  List look_up(const std::string& name) {
    const auto response = bench_.run(wait(ask(name), long_enough));
    return response == nullptr ? one("255.255.255.255") : response->list;
  }

  play::OwnFolder folder_;
  NameServer server_;
  Bench bench_;
  std::unique_ptr<telemetry::Metrics> metrics_ = make_metrics();
  std::string library_knows_;
  std::atomic<int> library_asked_{0};
  std::unique_ptr<NameService> service_;
  std::unique_ptr<Resolver> resolver_;  ///< declared last, so that it is destroyed first
};

TEST_F(NameServiceTest, L1_failed_name_is_queried_again) {
  server_.set("flaky.test", {fails(2), says({"192.0.2.1"})});
  start();
  EXPECT_EQ(look_up("flaky.test"), List());
  EXPECT_EQ(look_up("flaky.test"), one("192.0.2.1"));
  EXPECT_EQ(server_.asked("flaky.test"), 2);
}

TEST_F(NameServiceTest, L2_evicted_name_is_queried_again) {
  server_.set("moves.test", {says({"192.0.2.1"}), says({"192.0.2.2"})});
  start();
  EXPECT_EQ(look_up("moves.test"), one("192.0.2.1"));
  EXPECT_EQ(look_up("moves.test"), one("192.0.2.1"));
  resolver_->evict("moves.test");
  EXPECT_EQ(look_up("moves.test"), one("192.0.2.2"));
}

TEST_F(NameServiceTest, L3_names_without_a_dns_response_do_not_delay_other_names) {
  server_.set("good.test", {says({"192.0.2.1"})});
  // Each query without a response takes about a minute.
  start("hosts: files dns\n", "options timeout:2 attempts:5\n");
  std::vector<std::shared_ptr<Lookup>> hanging;
  // One c-ares channel does not accept 300 queries at once.
  for (int i = 0; i < 300; ++i) {
    const std::string name = "dead" + std::to_string(i) + ".test";
    server_.set(name, {silence()});
    hanging.push_back(ask(name));
  }
  EXPECT_EQ(look_up("good.test"), one("192.0.2.1"));
  for (const auto& lookup : hanging) EXPECT_EQ(bench_.run(wait(lookup, Duration::zero())), nullptr);
}

TEST_F(NameServiceTest, L3_lookup_that_waited_longest_fails_when_too_many_lookups_wait) {
  start("hosts: files dns\n", "options timeout:30 attempts:5\n");
  const std::size_t bound = NameService::questions_of_a_channel * NameService::most_channels;
  std::vector<std::shared_ptr<Lookup>> hanging;
  for (std::size_t i = 0; i <= bound; ++i) {
    const std::string name = "dead" + std::to_string(i) + ".test";
    server_.set(name, {silence()});
    hanging.push_back(ask(name));
  }
  const auto first = bench_.run(wait(hanging.front(), long_enough));
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->list.empty());
  EXPECT_EQ(bench_.run(wait(hanging.back(), Duration::zero())), nullptr);
  server_.set("good.test", {says({"192.0.2.1"})});
  EXPECT_EQ(look_up("good.test"), one("192.0.2.1"));
}

TEST_F(NameServiceTest, both_address_families_are_queried) {
  server_.set("both.test", {says({"127.0.0.9", "2001:db8::9"})});
  server_.set("six.test", {says({"2001:db8::6"})});
  start();
  List found = look_up("both.test");
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, addresses({"127.0.0.9", "2001:db8::9"}));
  EXPECT_EQ(look_up("six.test"), one("2001:db8::6"));
}

TEST_F(NameServiceTest, response_is_cached_no_longer_than_its_ttl) {
  NameResponse alias = says({"192.0.2.3"}, 0);
  alias.alias = "target.test";
  server_.set("brief.test", {says({"192.0.2.1"}, 0), says({"192.0.2.2"}, 300)});
  server_.set("alias.test", {alias});
  start();
  EXPECT_EQ(look_up("brief.test"), one("192.0.2.1"));
  EXPECT_EQ(look_up("brief.test"), one("192.0.2.2"));
  EXPECT_EQ(look_up("brief.test"), one("192.0.2.2"));
  EXPECT_EQ(server_.asked("brief.test"), 2);
  EXPECT_EQ(look_up("alias.test"), one("192.0.2.3"));
  EXPECT_EQ(look_up("alias.test"), one("192.0.2.3"));
  EXPECT_EQ(server_.asked("alias.test"), 2);
}

TEST_F(NameServiceTest, truncated_response_is_queried_again_over_tcp) {
  std::vector<std::string> many;
  for (int i = 1; i <= 60; ++i) many.push_back("192.0.2." + std::to_string(i));
  NameResponse cut = says(many);
  cut.truncated = true;
  server_.set("long.test", {cut});
  start();
  EXPECT_EQ(look_up("long.test").size(), 16U);
}

TEST_F(NameServiceTest, short_name_is_looked_up_in_the_search_domains) {
  server_.set("db.second.test", {says({"192.0.2.1"})});
  server_.set("db.first.test", {fails(2)});
  server_.set("a.b.first.test", {says({"192.0.2.2"})});
  server_.set("db", {says({"192.0.2.3"})});
  start("hosts: files dns\n", "search first.test second.test\noptions ndots:3\n");
  EXPECT_EQ(look_up("db"), one("192.0.2.1"));
  EXPECT_EQ(server_.asked("db.first.test"), 1);
  EXPECT_EQ(server_.asked("db"), 0);
  EXPECT_EQ(look_up("a.b"), one("192.0.2.2"));
  EXPECT_EQ(look_up("db."), one("192.0.2.3"));
}

TEST_F(NameServiceTest, hosts_file_names_and_numeric_addresses_need_no_server) {
  start();
  const List local = look_up("localhost");
  EXPECT_FALSE(local.empty());
  for (const auto& address : local) EXPECT_TRUE(address.is_loopback());
  EXPECT_EQ(server_.asked("localhost"), 0);
  EXPECT_EQ(look_up("0251.0376.0251.0376"), one("169.254.169.254"));
  EXPECT_EQ(look_up("127.1"), one("127.0.0.1"));
  EXPECT_EQ(server_.asked("127.1"), 0);
}

TEST_F(NameServiceTest, sources_are_queried_in_the_order_of_nsswitch) {
  server_.set("localhost", {says({"192.0.2.1"})});
  server_.set("up.test", {says({"192.0.2.2"})});
  start("hosts: files\n");
  EXPECT_EQ(look_up("up.test"), List());
  EXPECT_EQ(server_.asked("up.test"), 0);
  EXPECT_EQ(library_asked_, 0);
}

TEST_F(NameServiceTest, c_library_is_queried_only_for_names_that_files_and_dns_do_not_know) {
  library_knows_ = "printer.local";
  server_.set("up.test", {says({"192.0.2.2"})});
  start("hosts: files mdns4_minimal [NOTFOUND=return] dns\n");
  EXPECT_EQ(look_up("printer.local"), one("192.0.2.77"));
  EXPECT_EQ(server_.asked("printer.local"), 1);
  EXPECT_EQ(library_asked_, 1);
  EXPECT_EQ(look_up("up.test"), one("192.0.2.2"));
  EXPECT_EQ(library_asked_, 1);
  EXPECT_EQ(look_up("none.test"), List());
  EXPECT_EQ(library_asked_, 2);
}

TEST_F(NameServiceTest, changed_resolver_file_is_read_again_and_pending_lookups_restart) {
  server_.set("up.new.test", {says({"192.0.2.1"})});
  server_.set("dead.test", {silence()});
  start("hosts: files dns\n", "options timeout:30 attempts:5\n");
  const auto hanging = ask("dead.test");
  ASSERT_TRUE(bench_.run_until([&] { return server_.asked("dead.test") == 1; }));
  server_.set("dead.test", {says({"192.0.2.2"})});
  write("resolv.conf", "nameserver 127.0.0.1\nsearch new.test\n");
  const auto response = bench_.run(wait(hanging, long_enough));
  ASSERT_NE(response, nullptr);
  EXPECT_EQ(response->list, one("192.0.2.2"));
  EXPECT_EQ(look_up("up"), one("192.0.2.1"));
}

TEST_F(NameServiceTest, lookup_fails_if_the_name_server_is_unreachable) {
  start();
  const NameFiles nowhere{folder_.path() + "/none", folder_.path() + "/none", 1};
  NameService service(nowhere, [](const std::string&) { return Found{}; });
  Resolver resolver(service.query(), Resolver::Limits(), *metrics_);
  const auto response = bench_.run(wait(resolver.start("up.test", bench_.io.get_executor()), long_enough));
  ASSERT_NE(response, nullptr);
  EXPECT_TRUE(response->list.empty());
}

TEST_F(NameServiceTest, N7_refusing_name_server_fails_the_lookup_at_once) {
  start();
  for (const char* const servers :
       {"nameserver 127.0.0.1\n", "nameserver 127.0.0.1\nnameserver 127.0.0.2\n"}) {
    for (const char* const way : {"", " use-vc"}) {
      write("refused.conf", std::string(servers) + "options timeout:30 attempts:5" + way + "\n");
      const NameFiles nowhere{folder_.path() + "/refused.conf", folder_.path() + "/none", 1};
      NameService service(nowhere, [](const std::string&) { return Found{}; });
      Resolver resolver(service.query(), Resolver::Limits(), *metrics_);
      std::vector<std::shared_ptr<Lookup>> lookups;
      for (int i = 0; i < 20; ++i)
        lookups.push_back(resolver.start("up" + std::to_string(i) + ".test", bench_.io.get_executor()));
      for (const auto& lookup : lookups) {
        const auto response = bench_.run(wait(lookup, long_enough));
        ASSERT_NE(response, nullptr) << servers << way;
        EXPECT_TRUE(response->list.empty());
      }
    }
  }
}

TEST_F(NameServiceTest, N7_use_vc_option_queries_over_tcp) {
  NameResponse over_tcp = says({"192.0.2.1", "2001:db8::1"});
  over_tcp.tcp_only = true;
  server_.set("up.test", {over_tcp});
  start("hosts: files dns\n", "options use-vc timeout:30 attempts:5\n");
  EXPECT_EQ(look_up("up.test").size(), 2U);
}

TEST_F(NameServiceTest, N7_failed_ipv6_query_leaves_the_ipv4_addresses) {
  for (const int code : {1, 2, 3, 4, 5}) {
    NameResponse half = says({"192.0.2.1"}, 0);
    half.ipv6_code = code;
    server_.set("up.test", {half});
    start();
    EXPECT_EQ(look_up("up.test"), one("192.0.2.1")) << code;
  }
}

TEST_F(NameServiceTest, N7_no_aaaa_option_queries_no_ipv6_address) {
  server_.set("up.test", {says({"192.0.2.1", "2001:db8::1"})});
  start("hosts: files dns\n", "options no-aaaa\n");
  EXPECT_EQ(look_up("up.test"), one("192.0.2.1"));
}

TEST_F(NameServiceTest, I6_lookup_without_a_free_descriptor_fails) {
  if (play::sanitizer_needs_descriptors) GTEST_SKIP() << "sanitizer: needs descriptors of its own";
  server_.set("up.test", {says({"192.0.2.1"}, 0)});
  start();
  EXPECT_EQ(look_up("up.test"), one("192.0.2.1"));
  EXPECT_EQ(look_up("127.1"), one("127.0.0.1")) << "by now its socket is closed";
  {
    const play::ScarceDescriptors none(0);
    EXPECT_EQ(look_up("up.test"), List());
    EXPECT_EQ(look_up("localhost"), List());
  }
  EXPECT_EQ(look_up("up.test"), one("192.0.2.1"));
}

TEST_F(NameServiceTest, shutdown_does_not_wait_for_a_response) {
  server_.set("dead.test", {silence()});
  start("hosts: files dns\n", "options timeout:30 attempts:5\n");
  const auto lookup = ask("dead.test");
  ASSERT_TRUE(bench_.run_until([&] { return server_.asked("dead.test") == 1; }));
  resolver_.reset();
  service_.reset();
  EXPECT_EQ(bench_.run(wait(lookup, milliseconds(1))), nullptr);
}

}  // namespace
}  // namespace reprise::net::name_service_test
