// The server's end of a TLS connection, made with OpenSSL directly. Blocking, for threads of tests. Its
// certificate is made at test time.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tests/support/own_folder.hpp"
#include "tests/support/raw_socket.hpp"
#include "tests/support/tls_authority.hpp"

namespace reprise::play {

/// A TLS server's settings, with a certificate for 127.0.0.1 and localhost. The certificate is issued by an
/// intermediate CA, whose own certificate is issued by a root.
class TlsServer {
 public:
  /// `protocol`: the protocol that the server selects by ALPN; empty: no ALPN.
  explicit TlsServer(std::string_view protocol = "http/1.1");
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  static constexpr long serial = 7;  ///< serial number of the server's certificate
  const TlsAuthority& authority() const { return authority_; }
  static constexpr long authority_serial = 3;  ///< serial number of the intermediate CA's certificate
  const TlsAuthority& root() const { return root_; }
  /// Staples this OCSP response in later handshakes; empty: none.
  void staple(std::string response) { staple_ = std::move(response); }
  /// Appends a CRL or another certificate to the certificate file.
  void publish(const std::string& pem) const;

  /// PEM file with the root's certificate. A client that trusts this certificate trusts the server.
  const std::string& certificate_file() const { return file_; }
  SSL_CTX* settings() const { return settings_; }

 private:
  SSL_CTX* settings_;
  TlsAuthority root_{"root"};
  TlsAuthority authority_{"authority", root_, authority_serial};
  std::string protocol_;
  std::string staple_;
  OwnFolder folder_;
  std::string file_ = folder_.path() + "/trusted.pem";
};

/// How a read ended.
enum class TlsEndsWith : std::uint8_t { bytes, notice, fin, error };

/// The server's end of one TLS connection. Owns the socket.
class TlsEnd {
 public:
  TlsEnd(const TlsServer&, RawSocket);
  ~TlsEnd();
  TlsEnd(const TlsEnd&) = delete;
  TlsEnd& operator=(const TlsEnd&) = delete;

  /// Returns false if the handshake failed.
  bool accept();
  /// Reads once, and appends the bytes to `received`.
  TlsEndsWith read();
  /// Reads until the connection ends or fails.
  TlsEndsWith read_to_end();
  bool send(std::string_view bytes);
  /// Sends close_notify.
  void notify();
  bool resumed() const;
  /// Returns true if the client sent early data, which the server would accept.
  bool early_data() const;

  RawSocket& socket() { return socket_; }
  const std::string& received() const { return received_; }

 private:
  RawSocket socket_;
  SSL* connection_;
  std::string received_;
};

}  // namespace reprise::play
