// Tests HTTP/2 and intercepted TLS together in the whole proxy: HTTP/2 inside intercepted TLS, and TLS inside
// a tunnel over HTTP/2.
#include <openssl/ssl.h>

#include "tests/support/http2_end.hpp"
#include "tests/support/interception_test.hpp"

namespace reprise::server::http2_interception_test {
namespace {

using namespace play;
using std::string;

/// The client's end of TLS whose records a test carries itself.
class TlsInside {
 public:
  using Send = std::function<void(std::string_view)>;
  /// Returns the next bytes; "" at the end.
  using Receive = std::function<string()>;

  TlsInside(X509* trusted, std::string_view protocol, Send send, Receive receive)
      : settings_(SSL_CTX_new(TLS_client_method())), send_(std::move(send)), receive_(std::move(receive)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(settings_), trusted);
    SSL_CTX_set_verify(settings_, SSL_VERIFY_PEER, nullptr);
    connection_ = SSL_new(settings_);
    SSL_set_bio(connection_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_ctrl(connection_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             string("localhost").data());
    const string list = string(1, static_cast<char>(protocol.size())) + string(protocol);
    const std::basic_string<unsigned char> wire(list.begin(), list.end());
    SSL_set_alpn_protos(connection_, wire.data(), static_cast<unsigned>(wire.size()));
    SSL_set_connect_state(connection_);
  }
  ~TlsInside() {
    SSL_free(connection_);
    SSL_CTX_free(settings_);
  }
  TlsInside(const TlsInside&) = delete;
  TlsInside& operator=(const TlsInside&) = delete;

  bool connect() {
    return complete([this] { return SSL_do_handshake(connection_); }) == 1;
  }
  string protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(connection_, &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  void write(std::string_view bytes) {
    complete([&] { return SSL_write(connection_, bytes.data(), static_cast<int>(bytes.size())); });
  }
  /// Returns the next bytes; "" at the end.
  string read() {
    string bytes(16'384, '\0');
    const int count =
        complete([&] { return SSL_read(connection_, bytes.data(), static_cast<int>(bytes.size())); });
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
  }

 private:
  /// Repeats the step as long as it needs bytes of the peer. Returns its last result.
  int complete(const std::function<int()>& step) {
    for (;;) {
      const int result = step();
      string records(BIO_ctrl_pending(SSL_get_wbio(connection_)), '\0');
      if (!records.empty()) {
        BIO_read(SSL_get_wbio(connection_), records.data(), static_cast<int>(records.size()));
        send_(records);
      }
      if (result > 0 || SSL_get_error(connection_, result) != SSL_ERROR_WANT_READ) return result;
      const string got = receive_();
      if (got.empty()) return result;
      BIO_write(SSL_get_rbio(connection_), got.data(), static_cast<int>(got.size()));
    }
  }

  SSL_CTX* settings_;
  SSL* connection_ = nullptr;
  Send send_;
  Receive receive_;
};

class Http2Interception : public InterceptionTest {
 protected:
  /// Wishes under which the first bytes of a tunnel are examined, even if the machine stalls.
  Wishes wishes() {
    Wishes wishes = InterceptionTest::wishes();
    wishes.sniff_limit = seconds(60);
    return wishes;
  }
  X509* trusted() const { return ours_->certificate(); }
  /// Returns the client's end of TLS inside a tunnel of an HTTP/2 client.
  TlsInside tls_inside(Http2Client& client, std::int32_t tunnel) const {
    auto& carried = client.message(tunnel);
    return TlsInside(
        trusted(), "http/1.1",
        [&client, tunnel](std::string_view bytes) { client.send(data(tunnel, bytes)); },
        [&client, &carried] {
          client.until([&] { return carried.over() || !carried.body.empty(); });
          return std::exchange(carried.body, {});
        });
  }
};

/// HTTP/2 inside TLS inside a CONNECT of HTTP/1.
class Inside {
 public:
  Inside(const RunningProxy& proxy, X509* trusted, const string& authority)
      : client_(proxy.client()),
        tls_(
            trusted, "h2", [this](std::string_view bytes) { client_.send(bytes); },
            [this] {
              if (client_.socket().received().empty()) client_.socket().read_more();
              return client_.socket().take_all();
            }) {
    client_.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n");
    EXPECT_EQ(client_.read_response_without_body().status, 200);
    EXPECT_TRUE(tls_.connect());
    EXPECT_EQ(tls_.protocol(), "h2");
    tls_.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings());
  }
  /// Sends a GET and returns the response.
  Http2Message get(const string& authority) {
    FieldList fields = request_fields("GET", authority);
    fields[1].second = "https";
    const std::int32_t stream = std::exchange(next_, next_ + 2);
    tls_.write(headers(stream, fields, end_stream));
    Http2Message got;
    while (!got.ended) {
      Frame frame;
      while (!reader_.next(frame)) {
        const string bytes = tls_.read();
        if (bytes.empty()) return got;
        reader_.feed(bytes);
      }
      if (frame.type == FrameType::headers) got.fields = reader_.fields(frame);
      if (frame.type == FrameType::data) got.body += frame.payload;
      got.ended = frame.stream == stream && (frame.flags & end_stream) != 0;
    }
    return got;
  }

 private:
  RawClient client_;
  TlsInside tls_;
  FrameReader reader_;
  std::int32_t next_ = 1;
};

TEST_F(Http2Interception, M8_client_that_offers_http_2_is_served_over_it_and_its_requests_are_retried) {
  RunningProxy proxy(wishes());
  Inside client(proxy, trusted(), upstream_name());
  const Http2Message got = client.get(upstream_name());
  EXPECT_EQ(got.status(), "200");
  EXPECT_EQ(got.body, "over TLS");
  EXPECT_EQ(got.field("reprise-attempts"), "2");
  EXPECT_EQ(client.get(upstream_name()).body, "over TLS");
  EXPECT_EQ(asked_, 3);
}

TEST_F(Http2Interception, M9_request_for_another_host_gets_421_and_the_connection_goes_on) {
  RunningProxy proxy(wishes());
  Inside client(proxy, trusted(), upstream_name());
  EXPECT_EQ(client.get("other.test").status(), "421");
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(client.get(upstream_name()).body, "over TLS");
}

TEST_F(Http2Interception, M11_intercepted_tls_inside_a_tunnel_over_http_2_is_served_and_retried) {
  RunningProxy proxy(wishes());
  Http2Client client(proxy.port());
  const std::int32_t tunnel = client.begin({{":method", "CONNECT"}, {":authority", upstream_name()}});
  EXPECT_EQ(client.head_of(tunnel).status(), "200");
  TlsInside inside = tls_inside(client, tunnel);
  ASSERT_TRUE(inside.connect());
  inside.write("GET /x HTTP/1.1\r\nHost: " + upstream_name() + "\r\n\r\n");
  string got;
  while (!got.ends_with("over TLS")) {
    const string bytes = inside.read();
    ASSERT_FALSE(bytes.empty()) << got;
    got += bytes;
  }
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200")) << got;
  EXPECT_EQ(play::field_of(got, "Reprise-Attempts"), "2");
}

TEST_F(Http2Interception, M65_reset_tunnel_ends_the_tls_inside) {
  RunningProxy proxy(wishes());
  Http2Client client(proxy.port());
  const std::int32_t tunnel = client.begin({{":method", "CONNECT"}, {":authority", upstream_name()}});
  EXPECT_EQ(client.head_of(tunnel).status(), "200");
  TlsInside inside = tls_inside(client, tunnel);
  ASSERT_TRUE(inside.connect());
  client.send(rst_stream(tunnel, number_of(Http2Code::cancel)));
  EXPECT_TRUE(client.turn());
  EXPECT_TRUE(play::eventually([&] { return proxy.metric(R"(reprise_http2_streams{side="client"})") == 0; }));
}

}  // namespace
}  // namespace reprise::server::http2_interception_test
