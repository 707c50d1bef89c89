// Tests a reader of /events during shutdown: the proxy produces the reader's events before it destroys the
// objects that the events describe.
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

// Only a sanitizer run reliably detects a failure here, because a destroyed object may still look intact.
TEST(ProxyReaders, shutdown_waits_for_pending_event_stream_readers) {
  ScriptedUpstream upstream([](Peer& peer) {
    while (!peer.read_request().empty()) peer.send(response(503, "x"));
  });
  Wishes wishes;
  wishes.settings.shutdown.linger = {};
  RunningProxy proxy(std::move(wishes));
  {
    // With so many requests in the history, producing the events takes longer than the shutdown.
    constexpr int requests = 100;
    RawClient client = proxy.client();
    for (int i = 0; i < requests; ++i) EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 503);
  }
  RawClient reader(proxy.admin_port());
  reader.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  proxy.stop();
}

}  // namespace
}  // namespace reprise::server
