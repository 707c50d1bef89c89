// A reader of /events as the proxy ends: what it is to be told is made before the parts that it tells of go.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

// Where it fails, it does under a sanitizer: a part that is gone may look sound for long.
TEST(ProxyReaders, shutdown_waits_for_pending_event_stream_readers) {
  ScriptedUpstream upstream([](Peer& peer) {
    while (!peer.read_request().empty()) peer.send(response(503, "x"));
  });
  Wishes wishes;
  wishes.settings.shutdown.linger = {};
  RunningProxy proxy(std::move(wishes));
  {
    constexpr int requests = 100;  // as many stories as are told of: to make it takes longer than to end
    RawClient client = proxy.client();
    for (int i = 0; i < requests; ++i) EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 503);
  }
  RawClient reader(proxy.admin_port());
  reader.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  proxy.stop();
}

}  // namespace
}  // namespace reprise::server
