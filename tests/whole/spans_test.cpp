// Tests that the whole proxy sends its spans over TLS, and only to a collector that it can verify.
#include "tests/support/log_file.hpp"
#include "tests/support/tls_end.hpp"
#include "tests/support/whole_proxy.hpp"

namespace reprise::server::spans_test {
namespace {

/// A collector over TLS that accepts each batch.
class ProxySpans : public ::testing::Test {
 protected:
  Wishes wishes(const std::string& ca_file) const {
    Wishes wishes;
    config::Collector collector;
    collector.host = "127.0.0.1";
    collector.port = collector_.port();
    collector.tls = true;
    collector.ca_file = ca_file;
    collector.headers = {{"X-Token", "secret"}};
    wishes.settings.trace.otlp = collector;
    return wishes;
  }
  const play::TlsServer& server() const { return server_; }
  const Heard& batches() const { return batches_; }
  bool has_failed(unsigned connections) const {
    return play::eventually([&] { return failed_ >= connections; });
  }
  std::string upstream() const { return upstream_.authority(); }

 private:
  play::TlsServer server_;
  Heard batches_;
  std::atomic<unsigned> failed_{0};
  ScriptedUpstream upstream_{play::responses({response(200, "x")})};
  ScriptedUpstream collector_{[this](Peer& peer) {
    play::TlsEnd end(server_, std::move(peer.socket));
    if (!end.accept()) {
      ++failed_;
      return;
    }
    while (end.read() == play::TlsEndsWith::bytes) {
      if (!play::message_in(end.received()).whole) continue;
      batches_.add(end.received());
      end.send(response(200, "{}", "Content-Type: application/json\r\n"));
      return end.notify();
    }
  }};
};

TEST_F(ProxySpans, spans_are_sent_over_tls_with_the_fields_of_the_configuration) {
  RunningProxy proxy(wishes(server().certificate_file()));
  EXPECT_EQ(proxy.client().ask(play::get(upstream())).body, "x");
  ASSERT_TRUE(play::eventually([&] { return batches().size() >= 1; }));
  const std::string batch = batches().at(0);
  EXPECT_TRUE(batch.starts_with("POST /v1/traces HTTP/1.1\r\n")) << batch;
  EXPECT_EQ(play::field_of(batch, "X-Token"), "secret");
  EXPECT_NE(batch.find("resourceSpans"), std::string::npos);
}

TEST_F(ProxySpans, collector_whose_certificate_is_not_trusted_gets_no_span) {
  const play::TlsServer other;
  RunningProxy proxy(wishes(other.certificate_file()));
  EXPECT_EQ(proxy.client().ask(play::get(upstream())).body, "x");
  EXPECT_TRUE(has_failed(1));
  proxy.stop();
  proxy.join();
  EXPECT_EQ(batches().size(), 0U);
}

TEST_F(ProxySpans, file_of_certificates_that_cannot_be_read_is_logged) {
  play::LogFile log;
  Wishes wished = wishes("/nowhere/trusted.pem");
  wished.log_descriptor = log.descriptor();
  RunningProxy proxy(std::move(wished));
  EXPECT_EQ(proxy.client().ask(play::get(upstream())).body, "x");
  EXPECT_TRUE(play::eventually([&] { return log.says("/nowhere/trusted.pem"); }));
  EXPECT_EQ(batches().size(), 0U);
}

}  // namespace
}  // namespace reprise::server::spans_test
