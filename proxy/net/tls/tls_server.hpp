// What a client's TLS is ended with: one certificate of ours, ready for use by every connection to that name.
#pragma once

#include <openssl/types.h>

#include <memory>

#include "proxy/net/tls/tls_client.hpp"

namespace reprise::net {

/// Immutable; any thread. TLS 1.2 and later, ALPN http/1.1, no early data, no renegotiation. Sessions are
/// resumed by tickets, which no other TlsServer takes.
class TlsServer {
 public:
  /// Shares all three: what is shown, with its issuer behind it, and its private key. Throws
  /// std::runtime_error where they do not fit together.
  TlsServer(X509* certificate, X509* issuer, EVP_PKEY* key);

  SSL_CTX* settings() const { return settings_.get(); }

 private:
  std::unique_ptr<SSL_CTX, FreeTls> settings_;
};

}  // namespace reprise::net
