// The TLS settings with which this proxy terminates clients' TLS for one host name, shared by all connections
// to that host name.
#pragma once

#include <openssl/types.h>

#include <memory>

#include "proxy/net/tls/tls_client.hpp"

namespace reprise::net {

/// Immutable; thread-safe. Accepts TLS 1.2 or later, chooses `h2` (if allowed, see allow_http2) or `http/1.1`
/// in ALPN, and uses no early data and no renegotiation. Sessions are resumed by tickets, which are valid for
/// this TlsServer only.
class TlsServer {
 public:
  /// Shares ownership of the certificate, its issuer (sent after the certificate) and its private key. Throws
  /// std::runtime_error if the key does not match the certificate.
  TlsServer(X509* certificate, X509* issuer, EVP_PKEY* key);

  SSL_CTX* settings() const { return settings_.get(); }

 private:
  std::unique_ptr<SSL_CTX, FreeTls> settings_;
};

}  // namespace reprise::net
