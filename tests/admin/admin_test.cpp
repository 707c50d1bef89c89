// Tests the admin listener: its limits, its timers, and which requests it rejects.
#include <poll.h>

#include <algorithm>

#include "tests/support/descriptors.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

RawClient visitor(const RunningProxy& proxy) { return RawClient(proxy.admin_port()); }

std::string ask_for(std::string_view path, std::string_view host = "localhost") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n";
}

Wishes at_most(std::size_t connections) {
  Wishes wishes;
  wishes.settings.limits.admin_connections = connections;
  return wishes;
}

bool is_closed(RawClient& client) { return client.socket().read_to_end() != Wire::open; }
/// Returns true if the connection has ended. Unlike is_closed(), does not read pending data.
bool has_ended(RawClient& client) {
  pollfd one{client.socket().descriptor(), POLLRDHUP, 0};
  return ::poll(&one, 1, 0) == 1;
}
bool is_open(RawClient& client) { return client.ask(ask_for("/livez")).status == 200; }

TEST(Admin, L9_connection_limit_evicts_the_longest_idle_admin_connection) {
  RunningProxy proxy(at_most(3));
  std::vector<RawClient> silent;
  for (int i = 0; i < 3; ++i) {
    silent.push_back(visitor(proxy));
    EXPECT_TRUE(is_open(silent.back())) << "each is there before the next one comes";
  }
  silent[2].send("GET /li");  // a connection with half a head counts as idle too
  EXPECT_TRUE(is_open(silent[0])) << "now it is the youngest";
  RawClient fourth = visitor(proxy);
  EXPECT_TRUE(is_open(fourth));
  EXPECT_TRUE(is_closed(silent[1])) << "the eldest of those that wait";
  EXPECT_TRUE(is_open(silent[0]));
  silent[2].send("vez HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(silent[2].read_response().status, 200) << "the half of a head was kept";
  EXPECT_EQ(proxy.metric("reprise_limits_hit_total{limit=\"room\"}"), 2) << "the asking one made room too";
}

TEST(Admin, L9_many_silent_admin_connections_block_neither_admin_requests_nor_proxying) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  RunningProxy proxy(at_most(4));
  const std::size_t before = play::open_descriptors();
  std::vector<RawClient> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(visitor(proxy));
  RawClient client = visitor(proxy);
  EXPECT_TRUE(is_open(client));
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).body, "x");
  // On a busy machine the last evicted connection may be closed only after the traffic was served.
  EXPECT_TRUE(play::eventually([&] {
    return std::count_if(silent.begin(), silent.end(), [](RawClient& one) {
             return one.socket().read_to_end(milliseconds(0)) == Wire::open;
           }) < 4;
  }));
  silent.clear();
  // The margin of 20 descriptors covers both ends of the remaining connections, and other descriptors of this
  // process.
  EXPECT_TRUE(play::eventually([&] { return play::open_descriptors() < before + 20; }));
}

/// Requests a path many times and reads only the start of the first response.
RawClient deaf_visitor(const RunningProxy& proxy, std::string_view path, int times) {
  RawClient client = visitor(proxy);
  std::string requests;
  for (int i = 0; i < times; ++i) requests += ask_for(path);
  client.send(requests);
  client.socket().read_until("H");
  return client;
}

TEST(Admin, L9_connection_with_a_stalled_response_is_evicted_after_one_second) {
  RunningProxy proxy(at_most(2));
  RawClient deaf = deaf_visitor(proxy, "/", 100);
  RawClient other = visitor(proxy);
  EXPECT_TRUE(play::eventually([&] {
    const WireResponse refused = other.ask(ask_for("/nothing"));
    other = visitor(proxy);
    // On a slow machine, this request may come more than a second after the response stalled. The stalled
    // connection may then already be evicted.
    return refused.status == 503 ? refused.field("Retry-After") == "1" : has_ended(deaf);
  })) << "one of two places is left for probes";
  EXPECT_TRUE(is_open(other));
  EXPECT_TRUE(play::eventually([&] { return visitor(proxy).ask(ask_for("/metrics")).status == 200; }))
      << "after a second the unread response makes room";
  EXPECT_TRUE(is_closed(deaf));
}

TEST(Admin, L9_connections_with_unread_probe_responses_are_evicted_at_once) {
  RunningProxy proxy(at_most(2));
  RawClient first = deaf_visitor(proxy, "/livez", 20000);
  RawClient second = deaf_visitor(proxy, "/livez", 20000);
  EXPECT_TRUE(play::eventually([&] { return visitor(proxy).ask(ask_for("/livez")).status == 200; }));
}

TEST(Admin, L9_header_and_keep_alive_timers_close_slow_and_idle_connections) {
  Wishes wishes;
  wishes.settings.timers.header = milliseconds(300);
  wishes.settings.timers.keep_alive = std::chrono::hours(1);
  RunningProxy proxy(std::move(wishes));
  RawClient resting = visitor(proxy);
  RawClient slow = visitor(proxy);
  slow.send("GET /livez HT");
  EXPECT_TRUE(is_closed(slow));
  EXPECT_TRUE(is_open(resting)) << "silence before the first byte is no slow head";

  Wishes impatient;
  impatient.settings.timers.keep_alive = milliseconds(300);
  RunningProxy other(std::move(impatient));
  RawClient idle = visitor(other);
  EXPECT_TRUE(is_closed(idle));
}

TEST(Admin, L9_pipelined_requests_get_responses_in_order) {
  RunningProxy proxy(at_most(1));
  RawClient client = visitor(proxy);
  client.send(ask_for("/livez") + ask_for("/readyz") + ask_for("/nothing"));
  EXPECT_EQ(client.read_response().body, "alive\n");
  EXPECT_EQ(client.read_response().body, "ready\n");
  EXPECT_EQ(client.read_response().status, 404);
}

// While the proxy drains, "not ready" keeps new traffic away, and "alive" prevents a restart before the last
// response.
TEST(Admin, draining_proxy_reports_alive_and_not_ready) {
  std::atomic<bool> go{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    if (peer.read_request().empty()) return;
    play::eventually([&] { return go.load(); });
    peer.send(response(200, "x"));
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(play::eventually([&] { return upstream.connections() == 1; }));
  const auto ask = [&](std::string_view path) { return visitor(proxy).ask(ask_for(path)); };
  EXPECT_EQ(ask("/readyz").status, 200);
  proxy.stop();
  EXPECT_TRUE(play::eventually([&] { return ask("/readyz").status == 503; }));
  EXPECT_EQ(ask("/readyz").body, "draining\n");
  EXPECT_EQ(ask("/livez").status, 200);
  EXPECT_NE(ask("/status").body.find("\"draining\":true"), std::string::npos);
  go = true;
  EXPECT_EQ(client.read_response().body, "x");
}

struct Named {
  std::string_view host;
  int loopback;  ///< expected status of /metrics if the listener has a loopback address
};

TEST(Admin, L23_loopback_listener_rejects_a_foreign_host_with_421) {
  const std::vector<Named> names{{"localhost", 200},
                                 {"LocalHost:3129", 200},
                                 {"localhost.", 200},
                                 {"127.0.0.1:80", 200},
                                 {"10.1.2.3", 200},
                                 {"[::1]:3129", 200},
                                 {"[fe80::1]", 200},
                                 {"", 200},
                                 {"evil.example", 421},
                                 {"evil.example:3129", 421},
                                 {"localhost.evil.example", 421},
                                 {"evil.localhost", 421},
                                 {"127.0.0.1.evil.example", 421},
                                 {"2130706433", 421}};
  Wishes for_others;
  for_others.settings.admin.bind.address = "0.0.0.0";
  for_others.settings.admin.allow_remote = true;
  RunningProxy here;
  RunningProxy open(std::move(for_others));
  RawClient client = visitor(here);
  RawClient other = visitor(open);
  for (const Named& name : names) {
    for (const char* path : {"/metrics", "/livez", "/readyz"}) {
      EXPECT_EQ(client.ask(ask_for(path, name.host)).status, name.loopback) << path << " for " << name.host;
      EXPECT_EQ(other.ask(ask_for(path, name.host)).status, 200) << path << " for " << name.host;
    }
  }
  EXPECT_EQ(client.ask("GET /livez HTTP/1.0\r\n\r\n").status, 200) << "no Host at all";
  EXPECT_EQ(other.ask(ask_for("/status", "evil.example")).status, 403) << "row H6 holds for any bind";
}

}  // namespace
}  // namespace reprise::server
