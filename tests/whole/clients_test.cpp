// Tests clients that leave, stall or come in large numbers, and how the proxy shuts down.
#include "tests/support/descriptors.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server {
namespace {

constexpr std::string_view gone = "reprise_requests_total{route=\"default\",code=\"client_gone\"}";

/// Returns settings with a backoff of one hour, so that a test can act during the wait.
Wishes patient() {
  Wishes wishes;
  wishes.route.retry.backoff.initial = wishes.route.retry.backoff.maximum = std::chrono::hours(1);
  wishes.route.retry.deadline.reset();
  wishes.settings.shutdown.grace = seconds(60);
  return wishes;
}

TEST(ProxyClients, D14_client_reset_during_an_attempt_stops_it_within_a_second) {
  std::atomic<bool> asked{false};
  std::atomic<bool> over{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    asked = true;
    peer.socket.read_to_end();
    over = true;
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(play::eventually([&] { return asked.load(); }));
  client.socket().reset();
  EXPECT_TRUE(play::eventually([&] { return over.load(); }));
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(gone) == 1; }));
  EXPECT_EQ(upstream.connections(), 1U);
}

TEST(ProxyClients, D14_client_reset_during_a_backoff_wait_stops_it) {
  ScriptedUpstream upstream(play::responses({response(503, "busy")}));
  RunningProxy proxy(patient());
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(play::eventually([&] { return upstream.connections() == 1; }));
  client.socket().reset();
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(gone) == 1; }));
  EXPECT_TRUE(play::eventually([&] { return proxy.metric("reprise_client_connections") == 0; }));
}

TEST(ProxyClients, D14_half_closed_client_gets_the_last_response_during_a_wait) {
  ScriptedUpstream upstream(play::responses({response(503, "busy")}));
  RunningProxy proxy(patient());
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(play::eventually([&] { return upstream.connections() == 1; }));
  client.socket().finish_sending();
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "busy");
  EXPECT_EQ(got.field("Reprise-Reason"), "client_gone");
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
}

TEST(ProxyClients, D14_half_closed_client_gets_the_response_of_the_running_attempt_but_no_retry) {
  std::atomic<bool> asked{false};
  std::atomic<bool> go{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      asked = true;
      play::eventually([&] { return go.load(); });
      peer.send(response(503, "busy"));
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  client.socket().finish_sending();
  ASSERT_TRUE(play::eventually([&] { return asked.load(); }));
  go = true;
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.field("Reprise-Attempts"), "1");
  EXPECT_EQ(got.field("Reprise-Reason"), "client_gone");
}

TEST(ProxyClients, D14_request_sent_together_with_a_fin_gets_its_response) {
  ScriptedUpstream upstream(play::responses({response(200, "fine")}));
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  client.socket().finish_sending();
  EXPECT_EQ(client.read_response().body, "fine");
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
}

TEST(ProxyClients, D14_client_reset_during_a_download_stops_it) {
  std::atomic<bool> over{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
    const std::string piece(100'000, 'x');
    while (peer.socket.send(piece)) {
    }
    over = true;
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(client.socket().read_bytes(300'000));
  client.socket().reset();
  EXPECT_TRUE(play::eventually([&] { return over.load(); }));
}

// The client is slow, not gone. A FIN would make a truncated close-delimited body look complete, so the
// connection is reset.
TEST(ProxyClients, I5_client_that_does_not_read_is_reset_after_idle_timeout) {
  for (const std::string length : {"Content-Length: 1000000000\r\n", ""}) {
    std::atomic<bool> over{false};
    ScriptedUpstream upstream([&](Peer& peer) {
      peer.read_request();
      peer.send("HTTP/1.1 200 OK\r\n" + length + "\r\n");
      const std::string piece(100'000, 'x');
      while (peer.socket.send(piece)) {
      }
      over = true;
    });
    Wishes wishes;
    wishes.route.idle_timeout = milliseconds(300);
    RunningProxy proxy(std::move(wishes));
    RawClient client = proxy.client();
    client.send("GET http://" + upstream.authority() + "/ HTTP/1.0\r\n\r\n");
    EXPECT_TRUE(play::eventually([&] { return over.load(); }));
    EXPECT_EQ(client.socket().read_to_end(), Wire::reset);
    EXPECT_EQ(proxy.metric("reprise_limits_hit_total{limit=\"response_unread\"}"), 1);
  }
}

TEST(ProxyClients, I3_requests_of_a_pipelining_client_wait_until_it_reads_responses) {
  std::atomic<int> asked{0};
  ScriptedUpstream upstream([&](Peer& peer) {
    while (!peer.read_request().empty()) {
      ++asked;
      peer.send(response(200, std::string(4'000'000, 'x')));
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  std::string requests;
  for (int i = 0; i < 50; ++i) requests += play::get(upstream.authority());
  client.send(requests);
  ASSERT_TRUE(client.socket().read_bytes(1000));
  // The kernel's buffers hold some of the responses. The proxy forwards the other requests only after the
  // client has read.
  EXPECT_LT(asked, 45);
  for (int i = 0; i < 50; ++i) {
    const WireResponse got = client.read_response();
    ASSERT_EQ(got.body.size(), 4'000'000U) << i;
  }
  EXPECT_EQ(asked, 50);
}

TEST(ProxyClients, slow_request_head_gets_408) {
  Wishes wishes;
  wishes.settings.timers.header = milliseconds(200);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  const auto before = std::chrono::steady_clock::now();
  client.send("GET http://a.test/ HTTP/1.1\r\nHo");
  // Single bytes sent now and then do not extend the time limit for the head.
  ASSERT_TRUE(play::eventually([&] {
    if (client.socket().read_more(milliseconds(20))) return true;
    client.send("s");
    return false;
  }));
  const WireResponse got = client.read_response();
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(200));
  EXPECT_EQ(got.status, 408);
  EXPECT_EQ(got.field("Connection"), "close");
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(proxy.metric("reprise_rejected_requests_total{cause=\"header_timeout\"}"), 1);
}

TEST(ProxyClients, idle_client_is_closed_after_the_keep_alive_time) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  Wishes wishes;
  wishes.settings.timers.keep_alive = milliseconds(200);
  RunningProxy proxy(std::move(wishes));
  RawClient silent = proxy.client();
  RawClient used = proxy.client();
  // If the request comes after keep_alive has expired, the connection is already closed. The test then
  // connects again and repeats the request.
  ASSERT_TRUE(play::eventually([&] {
    if (used.ask(play::get(upstream.authority())).status == 200) return true;
    used = proxy.client();
    return false;
  }));
  EXPECT_EQ(used.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(silent.socket().read_to_end(), Wire::fin);
}

TEST(ProxyClients, client_idle_for_longer_than_a_timer_tick_is_still_served) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  RunningProxy proxy;
  RawClient client = proxy.client();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client.ask(play::get(upstream.authority())).status, 200);
    client.socket().read_more(milliseconds(130));  // nothing comes
  }
}

TEST(ProxyClients, client_over_the_connection_limit_gets_503_and_others_continue) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  Wishes wishes;
  wishes.settings.limits.connections = 2;
  RunningProxy proxy(std::move(wishes));
  RawClient first = proxy.client();
  RawClient second = proxy.client();
  EXPECT_EQ(first.ask(play::get(upstream.authority())).status, 200);
  EXPECT_EQ(second.ask(play::get(upstream.authority())).status, 200);
  RawClient third = proxy.client();
  const WireResponse refused = third.read_response();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.field("Reprise-Reason"), "connection_limit");
  EXPECT_EQ(refused.field("Retry-After"), "1");
  EXPECT_EQ(third.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(first.ask(play::get(upstream.authority())).status, 200);
  first.socket().close();
  EXPECT_TRUE(
      play::eventually([&] { return proxy.client().ask(play::get(upstream.authority())).status == 200; }));
}

// When a head outgrows its memory block, the block is returned, and another connection may reuse it. The code
// that sends the 408 must not read the old block.
TEST(ProxyClients, L10_slow_head_that_outgrew_its_first_buffer_gets_408) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  Wishes wishes;
  wishes.settings.timers.header = seconds(1);
  RunningProxy proxy(std::move(wishes));
  RawClient slow = proxy.client();
  slow.send("POST http://h/ HTTP/1.1\r\nHost: h\r\n");
  ASSERT_TRUE(play::eventually([&] { return slow.socket().unacknowledged() == 0; }));
  // When another client has received its response, the proxy has already read the first piece of the slow
  // head.
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).status, 200);
  slow.send("X-Long: " + std::string(40'000, 'x'));
  // Sends many requests at once, so that one of them gets the memory block that the slow head returned.
  std::vector<RawClient> others;
  for (int i = 0; i < 20; ++i) others.push_back(proxy.client());
  for (RawClient& other : others)
    other.send("HEAD http://" + upstream.authority() + "/ HTTP/1.1\r\nHost: h\r\n\r\n");
  for (RawClient& other : others) EXPECT_EQ(other.read_response_without_body().status, 200);
  const WireResponse got = slow.read_response();
  EXPECT_EQ(got.status, 408);
  EXPECT_TRUE(got.whole);
  EXPECT_NE(got.body.find("header_timeout"), std::string::npos) << got.body;
  EXPECT_EQ(got.field("Connection"), "close");
}

TEST(ProxyClients, C6_bytes_after_a_rejected_request_are_never_parsed_as_a_request) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) { heard.add(peer.read_request()); });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n" + play::get(upstream.authority()));
  EXPECT_EQ(client.read_response().status, 400);
  EXPECT_EQ(client.socket().read_to_end(), Wire::fin);
  EXPECT_EQ(client.socket().received(), "");
  EXPECT_EQ(heard.size(), 0U);
}

TEST(ProxyClients, A9_http_1_0_request_with_extra_bytes_gets_its_response_and_a_close) {
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      heard.add(got);
      peer.send(response(200, "x"));
    }
  });
  RunningProxy proxy;
  RawClient client = proxy.client();
  client.send("POST http://" + upstream.authority() + "/ HTTP/1.0\r\n\r\nbody without a length");
  EXPECT_EQ(client.read_response().status, 200);
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard.at(0).find("body"), std::string::npos);
}

TEST(ProxyClients, H5_looping_request_gets_508) {
  RunningProxy proxy;
  Heard heard;
  ScriptedUpstream upstream([&](Peer& peer) {
    heard.add(peer.read_request());
    peer.send(response(200, ""));
  });
  EXPECT_EQ(proxy.client().ask(play::get(upstream.authority())).status, 200);
  ASSERT_EQ(heard.size(), 1U);
  const std::string head = heard.at(0);
  const auto place = head.find("\r\nVia: ");
  ASSERT_NE(place, std::string::npos);
  const std::string via = head.substr(place + 2, head.find("\r\n", place + 2) - place);
  const WireResponse got = proxy.client().ask(play::get(upstream.authority(), "/", via));
  EXPECT_EQ(got.status, 508) << via;
  EXPECT_EQ(heard.size(), 1U);
}

TEST(ProxyClients, F4_many_concurrent_clients_get_their_own_responses) {
  ScriptedUpstream upstream([](Peer& peer) {
    unsigned served = 0;
    for (std::string got = peer.read_request(); !got.empty(); got = peer.read_request()) {
      const auto path = got.substr(4, got.find(" HTTP") - 4);
      if (++served % 7 == 0) return peer.socket.reset();
      if (served % 5 == 0) return;
      peer.send(served % 3 == 0 ? response(503, "busy") : response(200, path));
    }
  });
  Wishes wishes;
  wishes.route.retry.max_attempts = 50;
  wishes.route.budget.reset();
  wishes.settings.threads = 2;
  RunningProxy proxy(std::move(wishes));
  std::atomic<int> right{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 6; ++c) {
    clients.emplace_back([&, c] {
      RawClient client = proxy.client();
      for (int i = 0; i < 40; ++i) {
        const std::string path = "/" + std::to_string(c) + "/" + std::to_string(i);
        const WireResponse got = client.ask(play::get(upstream.authority(), path));
        if (got.status == 200 && got.body == path) ++right;
      }
    });
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(right, 240);
}

// Tests of the shutdown.
TEST(ProxyShutdown, idle_proxy_stops_at_once_and_closes_idle_clients) {
  ScriptedUpstream upstream(play::responses({response(200, "x")}));
  RunningProxy proxy;
  RawClient idle = proxy.client();
  EXPECT_EQ(idle.ask(play::get(upstream.authority())).status, 200);
  proxy.stop();
  EXPECT_EQ(idle.socket().read_to_end(), Wire::fin);
  EXPECT_TRUE(play::eventually([&] { return proxy.ended(); }));
  EXPECT_TRUE(play::eventually([&] { return upstream.running() == 0; }));
}

TEST(ProxyShutdown, request_in_flight_is_completed) {
  std::atomic<bool> asked{false};
  std::atomic<bool> go{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    asked = true;
    play::eventually([&] { return go.load(); });
    peer.send(response(200, "finished"));
  });
  Wishes wishes;
  wishes.settings.shutdown.grace = seconds(60);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(play::eventually([&] { return asked.load(); }));
  proxy.stop();
  // The drain has begun once new connections fail.
  ASSERT_TRUE(play::eventually([&] { return !proxy.client().socket().open(); }));
  EXPECT_FALSE(proxy.ended());
  go = true;
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.body, "finished");
  EXPECT_EQ(got.field("Connection"), "close");
  EXPECT_TRUE(play::eventually([&] { return proxy.ended(); }));
}

TEST(ProxyShutdown, D15_shutdown_ends_the_backoff_wait_and_delivers_the_last_response) {
  ScriptedUpstream upstream(play::responses({response(503, "busy")}));
  RunningProxy proxy(patient());
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(play::eventually([&] { return upstream.connections() == 1; }));
  proxy.stop();
  const WireResponse got = client.read_response();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, "busy");
  EXPECT_EQ(got.field("Reprise-Reason"), "shutting_down");
  EXPECT_TRUE(play::eventually([&] { return proxy.ended(); }));
}

TEST(ProxyShutdown, pending_request_ends_when_the_grace_period_of_a_shutdown_ends) {
  std::atomic<bool> asked{false};
  ScriptedUpstream upstream([&](Peer& peer) {
    peer.read_request();
    asked = true;
    peer.socket.read_to_end();
  });
  Wishes wishes;
  wishes.settings.shutdown.grace = milliseconds(200);
  RunningProxy proxy(std::move(wishes));
  RawClient client = proxy.client();
  client.send(play::get(upstream.authority()));
  ASSERT_TRUE(play::eventually([&] { return asked.load(); }));
  proxy.stop();
  EXPECT_NE(client.socket().read_to_end(), Wire::open);
  EXPECT_EQ(client.socket().received(), "");
  EXPECT_TRUE(play::eventually([&] { return proxy.ended(); }));
}

TEST(ProxyShutdown, shutdown_closes_all_descriptors) {
  const std::size_t before = play::open_descriptors();
  {
    ScriptedUpstream upstream([](Peer& peer) {
      while (!peer.read_request().empty()) {
        if (peer.number % 3 == 0) return peer.socket.reset();
        peer.send(peer.number % 3 == 1 ? response(503, "busy") : response(200, "x", "Connection: close\r\n"));
      }
    });
    RunningProxy proxy;
    for (int round = 0; round < 3; ++round) {
      std::vector<RawClient> clients;
      for (int i = 0; i < 20; ++i) clients.push_back(proxy.client());
      for (auto& client : clients) client.send(play::get(upstream.authority()));
      for (std::size_t i = 0; i < clients.size(); ++i) {
        if (i % 4 == 0) {
          clients[i].socket().reset();
        } else {
          EXPECT_GE(clients[i].read_response().status, 200);
        }
      }
      clients.clear();
      EXPECT_TRUE(play::eventually([&] { return proxy.metric("reprise_client_connections") == 0; }));
      EXPECT_TRUE(play::eventually(
          [&] { return proxy.metric("reprise_upstream_connections{state=\"active\"}") == 0; }));
    }
  }
  EXPECT_EQ(play::open_descriptors(), before);
}

}  // namespace
}  // namespace reprise::server
