// Tests requests that arrive while the shutdown closes idle connections: one run for each handler of the
// event loop.
#include <sys/socket.h>

#include <boost/asio/post.hpp>
#include <future>

#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

/// State of the client that sends the late request: the client has just received a response, has been idle
/// for long, has not connected yet, or has connected and sends its first request after the listeners were
/// closed.
enum class Asks : std::uint8_t { just_now, after_a_rest, first, once_listeners_are_closed };

/// Sends a request from the thread of the event loop, directly after the loop has run handler number `step`
/// of the shutdown.
class LateRequest {
 public:
  LateRequest(const RunningProxy& proxy, std::string request, Asks asks, int step)
      : proxy_(proxy), request_(std::move(request)), step_(step) {
    if (asks != Asks::first) client_.emplace(proxy.client());
    if (asks == Asks::once_listeners_are_closed) step_ = at_the_close;
  }

  std::optional<RawClient>& client() { return client_; }
  /// Returns true if the request was sent: its connection was still open, or a new connection succeeded.
  bool sent() const { return sent_; }

  void ran_a_handler() {
    const bool is_time =
        step_ == at_the_close ? !sent_ && !proxy_.client().socket().open() : ++handlers_ == step_;
    if (!is_time) return;
    if (!client_) client_.emplace(proxy_.client());
    if (!client_->socket().open() || is_closed()) return;
    client_->send(request_);
    sent_ = true;
  }

 private:
  bool is_closed() {
    char byte = 0;
    return ::recv(client_->socket().descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  }

  const RunningProxy& proxy_;
  std::optional<RawClient> client_;
  const std::string request_;
  static constexpr int at_the_close = 0;
  int step_;
  int handlers_ = 0;
  std::atomic<bool> sent_{false};
};

/// Shuts the proxy down, and sends the late request after `step` handlers of the shutdown. Returns true if
/// the request could still be sent. Expects a response to each request that was sent.
bool is_answered_if_sent(Asks asks, int step) {
  ScriptedUpstream upstream([](Peer& peer) {
    while (!peer.read_request().empty()) peer.send(response(200, "x"));
  });
  std::promise<boost::asio::io_context*> turned;
  LateRequest* late = nullptr;  // used only on the loop's thread
  Wishes wishes;
  wishes.settings.shutdown.linger = {};
  wishes.settings.shutdown.grace = seconds(60);
  wishes.turn = [&](boost::asio::io_context& io) {
    turned.set_value(&io);
    while (!io.stopped()) {
      io.run_one();
      if (late != nullptr) late->ran_a_handler();
    }
  };
  RunningProxy proxy(std::move(wishes));
  LateRequest request(proxy, play::get(upstream.authority()), asks, step);
  if (asks == Asks::once_listeners_are_closed) {
    // The proxy accepts this client after the client of the late request. A response here therefore shows
    // that both were accepted.
    EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).status, 200);
  } else if (asks != Asks::first) {
    EXPECT_EQ(request.client()->ask(play::get(upstream.authority())).status, 200);
  }
  const Instant asked = net::Tick::now();
  if (asks == Asks::after_a_rest) {
    EXPECT_TRUE(play::eventually([&] { return net::Tick::now() > asked + 4 * net::Tick::granule; }));
  }
  // Starts the shutdown inside a handler of the loop. Otherwise an unrelated handler could be counted as a
  // step of the shutdown.
  boost::asio::post(*turned.get_future().get(), [&] {
    late = &request;
    proxy.stop();
  });
  proxy.join();
  if (!request.sent()) return false;
  const WireResponse got = request.client()->read_response();
  EXPECT_EQ(got.status, 200) << "sent behind handler " << step;
  EXPECT_EQ(got.field("Connection"), "close");
  EXPECT_EQ(request.client()->socket().read_to_end(), Wire::fin);
  return true;
}

class ProxyDrain : public ::testing::TestWithParam<Asks> {};

TEST_P(ProxyDrain, request_sent_at_any_moment_of_a_drain_gets_a_response) {
  int step = 1;
  while (is_answered_if_sent(GetParam(), step)) ++step;
  EXPECT_GT(step, 3);
}

// A new connection has one tick for its first request, even after the listeners have closed. On a slow
// machine the request may come after the tick, so the test tries again.
TEST(ProxyDrainOfNewClients, first_request_of_a_connected_client_is_served_after_listeners_close) {
  EXPECT_TRUE(play::eventually([] { return is_answered_if_sent(Asks::once_listeners_are_closed, 0); }));
}

INSTANTIATE_TEST_SUITE_P(Clients, ProxyDrain,
                         ::testing::Values(Asks::just_now, Asks::after_a_rest, Asks::first));

}  // namespace
}  // namespace reprise::server
