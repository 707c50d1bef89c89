#include "proxy/net/tls/tls_server.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <stdexcept>

#include "proxy/net/io/tls_error.hpp"
#include "proxy/net/tls/tls_demands.hpp"

namespace reprise::net {
namespace {

constexpr std::array<unsigned char, 12> versions{2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr std::size_t http2_bytes = 3;

// Rejects a client whose ALPN offer lacks every accepted version. A client that sends no ALPN gets no ALPN in
// response. HTTP/2 is preferred (row M8).
int choose_protocol(SSL* connection, const unsigned char** chosen, unsigned char* length,
                    const unsigned char* offered, unsigned int offered_length, void*) {
  unsigned char* found = nullptr;
  const std::size_t skipped = allows_http2(connection) ? 0 : http2_bytes;
  const int outcome =
      SSL_select_next_proto(&found, length, versions.data() + skipped,
                            static_cast<unsigned>(versions.size() - skipped), offered, offered_length);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

TlsServer::TlsServer(X509* certificate, X509* issuer, EVP_PKEY* key)
    : settings_(SSL_CTX_new(TLS_server_method())) {
  if (settings_ == nullptr) throw std::runtime_error("TLS cannot be set up: " + tls_words());
  SSL_CTX* const settings = settings_.get();
  ERR_clear_error();
  SSL_CTX_set_min_proto_version(settings, TLS1_2_VERSION);
  SSL_CTX_set_options(settings, SSL_OP_NO_RENEGOTIATION | SSL_OP_PRIORITIZE_CHACHA);
  // With SSL_MODE_RELEASE_BUFFERS an idle client connection holds no buffers.
  SSL_CTX_set_mode(settings, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(settings, 1);
  SSL_CTX_set_session_cache_mode(settings, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(settings, 1);
  SSL_CTX_set_alpn_select_cb(settings, choose_protocol, nullptr);
  if (SSL_CTX_use_certificate(settings, certificate) != 1 || SSL_CTX_use_PrivateKey(settings, key) != 1 ||
      SSL_CTX_check_private_key(settings) != 1 || SSL_CTX_add1_chain_cert(settings, issuer) != 1)
    throw std::runtime_error("a certificate cannot be used: " + tls_words());
}

}  // namespace reprise::net
