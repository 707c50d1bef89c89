// Tests commands on the control socket of the whole proxy, and what they change for its clients.
#include "proxy/server/admin/ask_control.hpp"
#include "tests/support/own_folder.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::control_test {
namespace {

/// A proxy with a control socket.
class ProxyControl : public ::testing::Test {
 protected:
  ControlResponse tell(std::string_view command) const { return ask_control(path_, command, seconds(60)); }
  Wishes wishes() const {
    Wishes wishes;
    wishes.settings.admin.control = path_;
    return wishes;
  }
  static int ready(const RunningProxy& proxy) {
    RawClient client(proxy.admin_port());
    return client.ask("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n").status;
  }

 private:
  const play::OwnFolder folder_;
  const std::string path_ = folder_.path() + "/control.sock";
};

TEST_F(ProxyControl, drain_that_is_undone_makes_the_proxy_ready_again) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  RunningProxy proxy(wishes());
  EXPECT_TRUE(tell("drain undo").text.starts_with("reprise was not draining"));
  EXPECT_TRUE(tell("drain").text.starts_with("draining"));
  EXPECT_EQ(ready(proxy), 503);
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).field("Connection"), "close");
  EXPECT_TRUE(tell("drain undo").text.starts_with("ready again"));
  EXPECT_EQ(ready(proxy), 200);
  RawClient client = proxy.client();
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "x");
  EXPECT_EQ(client.ask(play::get(upstream.authority())).field("Connection"), "");
}

TEST_F(ProxyControl, shutdown_cannot_be_undone) {
  ScriptedUpstream upstream([](Peer& peer) {
    peer.read_request();
    peer.socket.read_to_end();
  });
  Wishes patient = wishes();
  patient.settings.shutdown.grace = seconds(60);
  RunningProxy proxy(std::move(patient));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  EXPECT_TRUE(play::eventually([&] { return upstream.connections() == 1; }));
  EXPECT_TRUE(tell("quit").succeeded);
  EXPECT_TRUE(play::eventually([&] { return ready(proxy) == 503; }));
  const ControlResponse undone = tell("drain undo");
  EXPECT_FALSE(undone.succeeded);
  EXPECT_NE(undone.text.find("cannot be undone"), std::string::npos) << undone.text;
  client.socket().reset();
  proxy.join();
}

TEST_F(ProxyControl, config_prints_the_settings_in_use) {
  Wishes wished = wishes();
  wished.settings.limits.streams = 77;
  RunningProxy proxy(std::move(wished));
  const std::string text = tell("config").text;
  EXPECT_NE(text.find("streams: 77"), std::string::npos) << text;
}

TEST_F(ProxyControl, story_of_a_request_is_found_by_the_id_in_its_response) {
  ScriptedUpstream upstream(play::responses({response(503, "busy"), response(200, "x")}));
  Wishes wished = wishes();
  wished.route.response_headers = policy::ResponseHeaders::all;
  RunningProxy proxy(std::move(wished));
  const std::string id = proxy.client().ask(play::get(upstream.authority())).field("Reprise-Request-Id");
  ASSERT_NE(id, "");
  const ControlResponse story = tell("story " + id);
  EXPECT_TRUE(story.succeeded);
  EXPECT_NE(story.text.find("503"), std::string::npos) << story.text;
  const ControlResponse unknown = tell("story nothing");
  EXPECT_FALSE(unknown.succeeded);
  EXPECT_TRUE(unknown.text.starts_with("no such request")) << unknown.text;
  EXPECT_FALSE(tell("no such command").succeeded);
}

TEST_F(ProxyControl, status_shows_paused_hosts_and_open_circuits) {
  ScriptedUpstream upstream(play::responses({response(503, "busy")}));
  Wishes wished = wishes();
  wished.route.while_paused = policy::WhilePaused::fail;
  wished.route.retry.max_attempts = 1;
  wished.route.circuit = policy::CircuitPolicy{.requests = 2, .open = seconds(3600)};
  RunningProxy proxy(std::move(wished));
  for (int i = 0; i < 4; ++i) proxy.client().ask(play::get(upstream.authority()));
  EXPECT_TRUE(tell("pause a.test:80 3600").succeeded);
  const std::string status = tell("status json").text;
  EXPECT_NE(status.find(R"("circuit":"open")"), std::string::npos) << status;
  EXPECT_NE(status.find(R"("pause_seconds":)"), std::string::npos) << status;
  EXPECT_FALSE(tell("status").text.empty());
}

}  // namespace
}  // namespace reprise::server::control_test
