// Tests TLS interception in the whole proxy: which connections are intercepted, which certificate is shown,
// and how failures end.
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "tests/support/client_hello.hpp"
#include "tests/support/interception_test.hpp"

namespace reprise::server {
namespace {

using std::string;

/// A blocking TLS client on a connected socket.
class ClientEnd {
 public:
  ClientEnd(play::RawSocket& socket, X509* trusted, const char* server_name, int newest = 0)
      : settings_(SSL_CTX_new(TLS_client_method())) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(settings_), trusted);
    SSL_CTX_set_verify(settings_, SSL_VERIFY_PEER, nullptr);
    if (newest != 0) {
      SSL_CTX_set_security_level(settings_, 0);
      SSL_CTX_set_min_proto_version(settings_, TLS1_VERSION);
      SSL_CTX_set_max_proto_version(settings_, newest);
    }
    connection_ = SSL_new(settings_);
    SSL_set_fd(connection_, socket.descriptor());
    if (server_name != nullptr)
      SSL_ctrl(connection_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               string(server_name).data());
  }
  ~ClientEnd() {
    SSL_free(connection_);
    SSL_CTX_free(settings_);
  }
  ClientEnd(const ClientEnd&) = delete;
  ClientEnd& operator=(const ClientEnd&) = delete;

  /// Sets the ALPN list, in wire format: a length byte before each name.
  void offer(std::string_view protocols) {
    const std::basic_string<unsigned char> wire(protocols.begin(), protocols.end());
    SSL_set_alpn_protos(connection_, wire.data(), static_cast<unsigned>(wire.size()));
  }
  bool connect() { return SSL_connect(connection_) == 1; }
  string ask(const string& request) {
    SSL_write(connection_, request.data(), static_cast<int>(request.size()));
    string got(4096, '\0');
    const int bytes = SSL_read(connection_, got.data(), static_cast<int>(got.size()));
    return got.substr(0, bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  }
  string subject() const {
    X509* const shown = SSL_get0_peer_certificate(connection_);
    char name[256] = "";
    if (shown != nullptr)
      X509_NAME_get_text_by_NID(X509_get_issuer_name(shown), NID_commonName, name, sizeof name);
    return name;
  }

 private:
  SSL_CTX* settings_;
  SSL* connection_;
};

class ProxyInterception : public InterceptionTest {
 protected:
  static double counted(const RunningProxy& proxy, const string& outcome) {
    return proxy.metric("reprise_interceptions_total{outcome=\"" + outcome + "\"}");
  }
};

const string request = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n";

TEST_F(ProxyInterception, requests_to_a_listed_host_are_retried) {
  const RunningProxy proxy(wishes());
  RawClient client = connected(proxy, upstream_name());
  ClientEnd end(client.socket(), ours_->certificate(), "localhost");
  end.offer("\x08http/1.1");
  ASSERT_TRUE(end.connect());
  const string got = end.ask(request);
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200 ")) << got;
  EXPECT_NE(got.find("Reprise-Attempts: 2"), string::npos) << got;
  EXPECT_TRUE(end.ask(request).starts_with("HTTP/1.1 200 ")) << "and again on that connection";
  EXPECT_EQ(counted(proxy, "intercepted"), 1);
}

TEST_F(ProxyInterception, F11_tls_with_a_mismatched_or_missing_server_name_or_without_http_is_tunnelled) {
  const RunningProxy proxy(wishes());
  const auto issuer = [&](const char* name, std::string_view protocols) {
    RawClient client = connected(proxy, upstream_name());
    ClientEnd end(client.socket(), server_.root().certificate(), name);
    if (!protocols.empty()) end.offer(protocols);
    end.connect();
    return end.subject();
  };
  EXPECT_EQ(issuer("other.test", ""), "authority");
  EXPECT_EQ(counted(proxy, "other_server_name"), 1);
  EXPECT_EQ(issuer(nullptr, ""), "authority");
  EXPECT_EQ(counted(proxy, "no_server_name"), 1);
  issuer("localhost",
         "\x0a"
         "acme-tls/1");
  EXPECT_EQ(counted(proxy, "no_http_1_1"), 1);
  EXPECT_EQ(counted(proxy, "intercepted"), 0);
}

TEST_F(ProxyInterception, route_in_mode_off_is_not_intercepted) {
  Wishes wished = wishes();
  wished.route.mode = policy::Mode::off;
  const RunningProxy proxy(std::move(wished));
  RawClient client = connected(proxy, upstream_name());
  ClientEnd end(client.socket(), server_.root().certificate(), "localhost");
  end.connect();
  EXPECT_EQ(end.subject(), "authority");
}

TEST_F(ProxyInterception, failed_handshake_is_closed_and_counted) {
  const RunningProxy proxy(wishes());
  for (const int newest : {TLS1_1_VERSION, 0}) {
    RawClient client = connected(proxy, upstream_name());
    // The first client offers only TLS versions that are too old. The second client does not trust the local
    // CA.
    ClientEnd end(client.socket(), server_.root().certificate(), "localhost", newest);
    EXPECT_FALSE(end.connect());
    client.socket().read_to_end();
  }
  EXPECT_EQ(counted(proxy, "handshake_failed"), 2);
  EXPECT_EQ(asked_, 0);
}

TEST_F(ProxyInterception, handshake_that_never_completes_is_closed) {
  Wishes wished = wishes();
  wished.settings.timers.handshake = milliseconds(50);
  wished.sniff_limit = seconds(60);
  const RunningProxy proxy(std::move(wished));
  const string name = play::extension(0, play::vector(string(1, '\0') + play::vector("localhost", 2), 2));
  const string hello = play::record(play::hello_message(name + play::some_extensions().substr(21)));
  for (const string& part : {hello.substr(0, 60), string("\x16\x03\x01")}) {
    RawClient client = connected(proxy, upstream_name());
    client.send(part);
    client.socket().read_to_end();
    EXPECT_EQ(client.socket().received(), "");
  }
  EXPECT_EQ(counted(proxy, "handshake_timeout"), 2);
  EXPECT_EQ(proxy.metric("reprise_limits_hit_total{limit=\"handshake\"}"), 2);
}

TEST_F(ProxyInterception, G7_partial_client_hello_is_withheld_while_interception_is_undecided) {
  Wishes wished = wishes();
  wished.settings.timers.handshake = std::chrono::hours(1);
  wished.sniff_limit = milliseconds(1);
  const RunningProxy proxy(std::move(wished));
  const string name = play::extension(0, play::vector(string(1, '\0') + play::vector("localhost", 2), 2));
  const string hello = play::record(play::hello_message(name + play::some_extensions().substr(21)));
  Heard heard;
  ScriptedUpstream plain([&](Peer& peer) {
    peer.socket.read_bytes(1);
    heard.add(peer.socket.take_all());
    peer.socket.read_to_end();
  });
  RawClient held = connected(proxy, upstream_name());
  held.send(hello.substr(0, 1));
  // Sends the same byte in a second tunnel, to a host that is not listed. When this byte has been forwarded,
  // the proxy has also read the byte that was sent earlier in the first tunnel.
  RawClient observer = connected(proxy, "127.0.0.1:" + std::to_string(plain.port()));
  observer.send(hello.substr(0, 1));
  EXPECT_TRUE(play::eventually([&] { return heard.size() == 1; }));
  held.send(hello.substr(1));
  EXPECT_TRUE(play::eventually([&] { return proxy.metric("reprise_streams_total{protocol=\"tls\"}") == 1; }));
}

TEST_F(ProxyInterception, client_reset_during_the_handshake_is_counted) {
  const RunningProxy proxy(wishes());
  RawClient client = connected(proxy, upstream_name());
  client.send("\x16\x03\x01");
  client.socket().reset();
  for (int tries = 0; tries < 10'000 && counted(proxy, "handshake_failed") < 1; ++tries) {
  }
  EXPECT_EQ(counted(proxy, "handshake_failed"), 1);
}

TEST_F(ProxyInterception, plain_http_after_connect_to_a_listed_host_is_retried) {
  ScriptedUpstream plain(play::responses({response(503, ""), response(200, "plain")}));
  const RunningProxy proxy(wishes());
  RawClient client = connected(proxy, "localhost:" + std::to_string(plain.port()));
  EXPECT_EQ(client.ask(request).body, "plain");
}

}  // namespace
}  // namespace reprise::server
