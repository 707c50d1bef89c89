// Tests reloads of a running proxy: what is applied, what is rejected, and which connections are affected.
#include <unistd.h>

#include <fstream>
#include <future>

#include "proxy/server/admin/ask_control.hpp"
#include "proxy/server/process/reloader.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/support/running_proxy.hpp"
#include "tests/support/scripted_upstream.hpp"

namespace reprise::server {
namespace {

using play::RunningProxy;
using play::ScriptedUpstream;
using play::Wishes;

/// A proxy whose next configuration is set by the test.
class Reloading {
 public:
  explicit Reloading(Wishes wishes = {})
      : settings(play::whole(wishes)), proxy([&] {
          wishes.reload = [this] { return NewConfiguration{next, "hash2", problems, files}; };
          return wishes;
        }()) {}

  static void give_route(config::Settings& settings, const policy::RoutePolicy& policy,
                         const std::string& name = "default") {
    policy::Route fallback;
    fallback.name = name;
    fallback.policy = policy;
    settings.routes =
        std::make_shared<const policy::RouteTable>(std::vector<policy::Route>{}, std::move(fallback));
  }
  ReloadReport reload() {
    std::promise<ReloadReport> told;
    proxy.reload([&](const ReloadReport& report) { told.set_value(report); });
    return told.get_future().get();
  }

  config::Settings settings;             ///< settings at start
  std::optional<config::Settings> next;  ///< settings that the next reload reads; empty: the reload fails
  std::vector<std::string> problems;
  std::vector<WatchedFile> files;  ///< files that are watched from the next reload on
  RunningProxy proxy;
};

std::string attempts_of(const play::WireResponse& responded) { return responded.field("Reprise-Attempts"); }

policy::RoutePolicy tries(unsigned most) {
  policy::RoutePolicy route = Wishes().route;
  route.retry.max_attempts = most;
  return route;
}

Wishes wishing(unsigned most) {
  Wishes wishes;
  wishes.route = tries(most);
  return wishes;
}

TEST(ProxyReload, next_request_on_an_open_connection_uses_the_new_routes) {
  ScriptedUpstream upstream(play::responses({play::response(503, "x")}));
  Reloading world(wishing(2));
  auto client = world.proxy.client();
  EXPECT_EQ(attempts_of(client.ask(play::get(upstream.authority()))), "2");
  world.next = world.settings;
  Reloading::give_route(*world.next, tries(3), "another");
  const ReloadReport report = world.reload();
  EXPECT_TRUE(report.succeeded);
  EXPECT_EQ(report.hash, "hash2");
  EXPECT_EQ(attempts_of(client.ask(play::get(upstream.authority()))), "3");
  EXPECT_EQ(world.proxy.metric(R"(reprise_requests_total{route="default",code="503"})"), 1);
  EXPECT_EQ(world.proxy.metric(R"(reprise_requests_total{route="another",code="503"})"), 1);
  EXPECT_EQ(world.proxy.metric(R"(reprise_config_reloads_total{outcome="success"})"), 1);
  EXPECT_EQ(world.proxy.metric(R"(reprise_config_info{hash="hash2"})"), 1);
}

TEST(ProxyReload, failed_reload_keeps_the_previous_configuration) {
  ScriptedUpstream upstream(play::responses({play::response(503, "x")}));
  Reloading world(wishing(2));
  auto client = world.proxy.client();
  world.problems = {"f:1:2: error: no", "f:2:1: error: nor this"};
  EXPECT_FALSE(world.reload().succeeded) << "no settings";
  world.next = world.settings;
  world.problems.clear();
  policy::RoutePolicy route = tries(5);
  route.tls.ca_file = "/no/such/file.pem";
  Reloading::give_route(*world.next, route);
  ReloadReport report = world.reload();
  EXPECT_FALSE(report.succeeded) << "a file of TLS";
  ASSERT_EQ(report.words.size(), 1U);
  EXPECT_NE(report.words.front().find("/no/such/file.pem"), std::string::npos) << report.words.front();
  Reloading::give_route(*world.next, tries(5));
  config::Listener taken;
  taken.bind.port = world.proxy.admin_port();
  world.next->listeners.push_back(taken);
  report = world.reload();
  EXPECT_FALSE(report.succeeded) << "a port that is taken";
  EXPECT_EQ(attempts_of(client.ask(play::get(upstream.authority()))), "2");
  EXPECT_EQ(world.proxy.metric(R"(reprise_config_reloads_total{outcome="failed"})"), 3);
}

TEST(ProxyReload, listeners_are_added_and_removed) {
  ScriptedUpstream upstream(play::responses({play::response(200, "x")}));
  Reloading world(wishing(2));
  auto client = world.proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "x");
  world.next = world.settings;
  // Adds a second listener with port 0: the existing listener is kept, and a new one is bound.
  world.next->listeners.push_back(world.next->listeners.front());
  ASSERT_TRUE(world.reload().succeeded);
  EXPECT_EQ(client.ask(play::get(upstream.authority())).field("Connection"), "");
  const auto ports = world.proxy.ports_now();
  ASSERT_EQ(ports.size(), 3U);
  EXPECT_EQ(ports.front(), world.proxy.port());
  EXPECT_EQ(ports.back(), world.proxy.admin_port());
  play::RawClient second(ports[1]);
  EXPECT_EQ(second.ask(play::get(upstream.authority())).body, "x");
  world.next->listeners.pop_back();
  world.next->admin.bind.address = "127.0.0.2";
  ASSERT_TRUE(world.reload().succeeded);
  EXPECT_EQ(second.ask(play::get(upstream.authority())).field("Connection"), "close");
  EXPECT_EQ(client.ask(play::get(upstream.authority())).field("Connection"), "");
}

TEST(ProxyReload, connection_of_a_listener_removed_by_a_reload_closes_after_its_current_response) {
  std::promise<void> asked;
  std::promise<void> taken_away;
  ScriptedUpstream upstream([&](play::Peer& peer) {
    peer.read_request();
    asked.set_value();
    taken_away.get_future().wait();
    peer.send(play::response(200, "x"));
  });
  Reloading world(wishing(1));
  world.next = world.settings;
  world.next->listeners.push_back(world.next->listeners.front());
  ASSERT_TRUE(world.reload().succeeded);
  play::RawClient client(world.proxy.ports_now()[1]);
  client.send(play::get(upstream.authority()));
  asked.get_future().wait();
  world.next->listeners.pop_back();
  const bool succeeded = world.reload().succeeded;
  taken_away.set_value();
  EXPECT_TRUE(succeeded);
  const play::WireResponse response = client.read_response();
  EXPECT_EQ(response.body, "x");
  EXPECT_EQ(response.field("Connection"), "close");
  EXPECT_EQ(client.socket().read_to_end(), play::Wire::fin);
}

TEST(ProxyReload, parent_added_by_a_reload_is_used_from_the_next_request_on) {
  ScriptedUpstream upstream(play::responses({play::response(200, "direct")}));
  ScriptedUpstream parent(play::responses({play::response(200, "through the parent")}));
  Reloading world(wishing(1));
  auto client = world.proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "direct");
  world.next = world.settings;
  world.next->parent.emplace();
  world.next->parent->host = "127.0.0.1";
  world.next->parent->port = parent.port();
  for (int times = 0; times < 2; ++times) {
    ASSERT_TRUE(world.reload().succeeded);
    EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "through the parent");
  }
  world.next->parent.reset();
  ASSERT_TRUE(world.reload().succeeded);
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "direct");
}

TEST(ProxyReload, settings_that_need_a_restart_are_reported) {
  Reloading world(wishing(1));
  world.next = world.settings;
  world.next->threads = 7;
  world.next->limits.upstreams = 5;
  world.next->limits.replay_folder = "/elsewhere";
  const ReloadReport report = world.reload();
  ASSERT_TRUE(report.succeeded);
  ASSERT_EQ(report.words.size(), 3U);
  EXPECT_EQ(report.words[0], "threads can only change at a restart: the running value is kept until then");
}

TEST(ProxyReload, replay_memory_limit_follows_the_reload) {
  ScriptedUpstream upstream(play::responses({play::response(503, "busy")}));
  Wishes wishes = wishing(2);
  wishes.settings.limits.replay_memory_bytes = 10'000;
  Reloading world(wishes);
  // The body does not fit into the read buffer after the head, so replay memory has to hold it.
  const auto ask = [&] {
    return world.proxy.client()
        .ask(play::with_body("PUT", upstream.authority(), std::string(30'000, 'x')))
        .field("Reprise-Reason");
  };
  EXPECT_EQ(ask(), "not_replayable");
  EXPECT_EQ(world.proxy.metric("reprise_replay_limit_bytes{store=\"memory\"}"), 10'000);
  world.next = world.settings;
  world.next->limits.replay_memory_bytes = 1'000'000;
  ASSERT_TRUE(world.reload().words.empty());
  EXPECT_EQ(ask(), "attempts_spent");
  EXPECT_EQ(world.proxy.metric("reprise_replay_limit_bytes{store=\"memory\"}"), 1'000'000);
}

TEST(ProxyReload, control_socket_commands_are_executed) {
  Wishes wishes = wishing(1);
  const std::string path = "/tmp/reprise-test-" + std::to_string(::getpid()) + ".sock";
  wishes.settings.admin.control = path;
  Reloading world(wishes);
  const auto succeeds = [&](const char* command) {
    return ask_control(path, command, std::chrono::seconds(60)).succeeded;
  };
  EXPECT_FALSE(succeeds("reload"));
  world.next = world.settings;
  for (const char* good :
       {"reload", "status", "status json", "log level debug", "pause a.test:80 5", "drain"})
    EXPECT_TRUE(succeeds(good)) << good;
  for (const char* bad :
       {"", "no", "log level loud", "pause a.test 5", "pause a.test:80 x", "pause a.test:80 0"})
    EXPECT_FALSE(succeeds(bad)) << bad;
}

TEST(ProxyReload, control_socket_reports_the_result_of_each_command) {
  Wishes wishes = wishing(1);
  wishes.route.while_paused = policy::WhilePaused::fail;
  const play::OwnFolder folder;
  const std::string path = folder.path() + "/control.sock";
  wishes.settings.admin.control = path;
  Reloading world(wishes);
  const auto said = [&](std::string_view command) {
    return ask_control(path, command, std::chrono::seconds(60)).text;
  };
  EXPECT_EQ(said("reload"), "") << "nothing was read, and nothing is said of it";
  world.problems = {"f:1:1: error: one", "f:2:1: error: two"};
  EXPECT_EQ(said("reload"), "f:1:1: error: one\nf:2:1: error: two");
  world.next = world.settings;
  world.problems = {"f:1:1: warning: odd"};
  EXPECT_EQ(said("reload"), "reloaded, hash hash2\nf:1:1: warning: odd");
  EXPECT_EQ(said("pause A.test:80 5"), "a.test:80 is paused for 5s");
  EXPECT_EQ(said("pause a.test:80 1m30s"), "a.test:80 is paused for 1m30s");
  EXPECT_EQ(said("pause a.test:80 24h"), "a.test:80 is paused for 24h");
  EXPECT_EQ(said("pause a.test:80 999ms"), said("pause a.test:80 25h"));
  EXPECT_EQ(said("pause a.test: 5"), said("pause a.test 5"));
  EXPECT_EQ(said("pause a.test:80 5x"), said("pause a.test:80 86401"));
  world.problems.clear();
  Reloading::give_route(*world.next, tries(1));
  EXPECT_EQ(said("reload"), "reloaded, hash hash2");
  EXPECT_EQ(said("pause a.test:80 5"),
            "a.test:80 is paused for 5s; this has no effect, because host_pause is off on every route");
  EXPECT_EQ(said("quit"), "shutting down: open requests may finish within shutdown.grace");
  world.proxy.join();
}

TEST(ProxyReload, reload_without_a_configuration_file_fails) {
  Wishes wishes = wishing(1);
  const play::OwnFolder folder;
  const std::string path = folder.path() + "/control.sock";
  wishes.settings.admin.control = path;
  const RunningProxy proxy(wishes);
  const ControlResponse response = ask_control(path, "reload", std::chrono::seconds(60));
  EXPECT_FALSE(response.succeeded);
  EXPECT_EQ(response.text, "cannot reload: reprise was started without a configuration file");
}

// The unread part of a file may name other files. After a failed reload, all watched files therefore stay
// watched.
TEST(ProxyReload, files_stay_watched_after_a_failed_reload) {
  const play::OwnFolder folder;
  const std::string main = folder.path() + "/main", named = folder.path() + "/named";
  const auto write = [](const std::string& path, std::string_view text) { std::ofstream(path) << text; };
  write(main, "1");
  write(named, "1");
  Reloading world(wishing(1));
  world.next = world.settings;
  world.files = {{main}, {named}};
  ASSERT_TRUE(world.reload().succeeded);
  world.next.reset();
  world.problems = {"f:1:1: error: no"};
  world.files = {{main}};
  ASSERT_FALSE(world.reload().succeeded);
  write(named, "2");
  const auto failed = [&] { return world.proxy.metric(R"(reprise_config_reloads_total{outcome="failed"})"); };
  EXPECT_TRUE(play::eventually([&] { return failed() == 2; })) << "the other file is watched still";
}

TEST(ProxyReload, reload_after_shutdown_fails) {
  Reloading world(wishing(1));
  world.next = world.settings;
  world.proxy.stop();
  world.proxy.join();
  EXPECT_FALSE(world.reload().succeeded);
}

}  // namespace
}  // namespace reprise::server
