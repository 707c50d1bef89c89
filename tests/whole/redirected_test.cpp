// Tests connections to a transparent listener that were not redirected: their original destination is the
// listener itself, so no upstream is dialled.
#include "tests/support/client_hello.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

Wishes transparent() {
  Wishes wishes;
  wishes.mode = config::ListenerMode::transparent;
  // The second listener receives no redirected connections.
  wishes.settings.listeners.emplace_back().bind.port = 0;
  wishes.route.retry.max_attempts = 2;
  return wishes;
}

TEST(ProxyRedirected, redirected_http_request_to_the_proxy_itself_gets_508) {
  const RunningProxy proxy(transparent());
  const WireResponse got = proxy.client().ask("GET /x HTTP/1.1\r\nHost: shop.test\r\n\r\n");
  EXPECT_EQ(got.status, 508);
  EXPECT_NE(got.body.find("listener of this proxy"), std::string::npos) << got.body;
  EXPECT_EQ(proxy.metric("reprise_streams_total{protocol=\"http\"}"), 1);
}

TEST(ProxyRedirected, redirected_streams_to_the_proxy_itself_that_are_not_http_are_closed) {
  const RunningProxy proxy(transparent());
  for (const std::string& said :
       {play::client_hello(), std::string("what is this"), std::string("\x16\x03\x01\x00\x05hello", 10)}) {
    RawClient client = proxy.client();
    client.send(said);
    client.socket().read_to_end();
    EXPECT_EQ(client.socket().received(), "") << said.substr(0, 20);
  }
  RawClient silent = proxy.client();
  silent.socket().finish_sending();
  silent.socket().read_to_end();
  EXPECT_EQ(silent.socket().received(), "");
}

TEST(ProxyRedirected, gateway_request_is_not_mistaken_for_a_loop_if_a_transparent_listener_exists_too) {
  ScriptedUpstream upstream(play::responses({response(200, "yes")}));
  const RunningProxy proxy(transparent());
  RawClient client(proxy.gateway_port());
  EXPECT_EQ(client.ask(play::get(upstream.authority())).body, "yes");
}

}  // namespace
}  // namespace reprise::server
