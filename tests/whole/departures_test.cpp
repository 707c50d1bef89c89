// Tests a client's FIN and a SIGTERM that arrive while the body of a retryable response is still being read.
#include "tests/support/log_file.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

/// Returns settings with a backoff longer than any test.
Wishes endless_wait(const play::LogFile& log) {
  Wishes wishes;
  wishes.log_descriptor = log.descriptor();
  wishes.settings.log.level = config::LogLevel::debug;
  wishes.route.retry.backoff.initial = wishes.route.retry.backoff.maximum = std::chrono::hours(1);
  wishes.route.retry.deadline = std::nullopt;
  wishes.settings.shutdown.grace = std::chrono::hours(1);
  return wishes;
}

enum class Departure : std::uint8_t { fin, shutdown };

/// A client that waits for a retry after a 503. `sent` is the part of the 503's four-byte body that the
/// upstream has sent.
struct Waiting {
  explicit Waiting(std::string_view sent)
      : upstream([sent](Peer& peer) {
          peer.read_request();
          peer.send("HTTP/1.1 503 No\r\nContent-Length: 4\r\nX-Theirs: 1\r\n\r\n" + std::string(sent));
          peer.socket.read_to_end();
        }),
        proxy(endless_wait(log)),
        client(proxy.client()) {}

  WireResponse leave(Departure departure) {
    client.send(play::get(upstream.authority()));
    // After this log line, the proxy is reading the response body.
    EXPECT_TRUE(play::eventually([&] { return log.says("attempt 1: 503"); }));
    if (departure == Departure::fin) {
      client.socket().finish_sending();
    } else {
      proxy.stop();
    }
    return client.read_response();
  }

  play::LogFile log;
  ScriptedUpstream upstream;
  RunningProxy proxy;
  RawClient client;
};

TEST(ProxyDepartures, L17_incomplete_kept_response_becomes_502_naming_its_status) {
  for (const Departure departure : {Departure::fin, Departure::shutdown}) {
    Waiting waiting("ha");
    const WireResponse got = waiting.leave(departure);
    EXPECT_EQ(got.status, 502);
    EXPECT_NE(got.field("Proxy-Status").find("; received-status=503"), std::string::npos) << got.head;
    EXPECT_EQ(got.field("Reprise-Reason"), departure == Departure::fin ? "client_gone" : "shutting_down");
    EXPECT_FALSE(got.has("X-Theirs"));
    EXPECT_TRUE(got.whole);
  }
}

TEST(ProxyDepartures, L17_complete_kept_response_is_delivered_when_the_request_ends_early) {
  for (const Departure departure : {Departure::fin, Departure::shutdown}) {
    Waiting waiting("half");
    const WireResponse got = waiting.leave(departure);
    EXPECT_EQ(got.status, 503);
    EXPECT_EQ(got.body, "half");
    EXPECT_TRUE(got.has("X-Theirs"));
  }
}

}  // namespace
}  // namespace reprise::server
