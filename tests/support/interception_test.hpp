// Fixture for tests of TLS interception in the whole proxy.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/support/names.hpp"
#include "tests/support/tls_end.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {

/// A TLS upstream of HTTP/1 whose first response is 503, a local CA, and wishes for a proxy that intercepts
/// TLS to localhost.
class InterceptionTest : public ::testing::Test {
 protected:
  InterceptionTest()
      : upstream_([this](Peer& peer) {
          play::TlsEnd end(server_, std::move(peer.socket));
          if (!end.accept()) return;
          std::size_t seen = 0;
          while (end.read() == play::TlsEndsWith::bytes) {
            if (end.received().find("\r\n\r\n", seen) == std::string::npos) continue;
            seen = end.received().size();
            end.send(response(++asked_ == 1 ? 503 : 200, "over TLS"));
          }
        }) {
    names_.set("localhost", {asio::ip::make_address("127.0.0.1")});
  }

  Wishes wishes() {
    Wishes wishes;
    PrivateKey key = Authority::make_key();
    const std::vector<policy::HostPattern> hosts{{"localhost"}};
    Certificate certificate =
        Authority::certify(key.get(), hosts, net::Clock::wall_nanoseconds() / 1'000'000'000);
    wishes.authority = std::make_shared<const Authority>(std::move(certificate), std::move(key));
    ours_ = wishes.authority;
    wishes.settings.intercept.emplace().hosts = hosts;
    wishes.route.tls.ca_file = server_.certificate_file();
    wishes.query = names_.query();
    return wishes;
  }

  /// Returns a client that has received the 200 to its CONNECT.
  static RawClient connected(const RunningProxy& proxy, const std::string& authority) {
    RawClient client = proxy.client();
    client.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    EXPECT_EQ(client.read_response_without_body().status, 200);
    return client;
  }
  std::string upstream_name() const { return "localhost:" + std::to_string(upstream_.port()); }

  play::TlsServer server_;
  std::atomic<int> asked_{0};
  ScriptedUpstream upstream_;
  play::Names names_;
  std::shared_ptr<const Authority> ours_;
};

}  // namespace reprise::server
