// The server's end of a TLS connection, by OpenSSL itself, blocking: for threads of tests. Its certificate is
// made at test time.
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

/// What a server is: a certificate for 127.0.0.1 and localhost of an authority of its own, for which a root
/// vouches, and its settings.
class TlsServer {
 public:
  /// `protocol`: what it chooses by ALPN; empty: it knows no ALPN.
  explicit TlsServer(std::string_view protocol = "http/1.1");
  ~TlsServer();
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  static constexpr long serial = 7;  ///< of its certificate
  const TlsAuthority& authority() const { return authority_; }
  static constexpr long authority_serial = 3;  ///< of its certificate, among those of the root
  const TlsAuthority& root() const { return root_; }
  /// From now on handshakes bring that OCSP response along; empty: none.
  void staple(std::string response) { staple_ = std::move(response); }
  /// Adds to the certificate file: a list of what is revoked, another certificate.
  void publish(const std::string& pem) const;

  /// The root's certificate as a PEM file: who trusts it trusts the server.
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

/// Owns the connection's socket.
class TlsEnd {
 public:
  TlsEnd(const TlsServer&, RawSocket);
  ~TlsEnd();
  TlsEnd(const TlsEnd&) = delete;
  TlsEnd& operator=(const TlsEnd&) = delete;

  /// False if the handshake failed.
  bool accept();
  /// Appends what comes next to `received`.
  TlsEndsWith read();
  /// To the end, whatever it is.
  TlsEndsWith read_to_end();
  bool send(std::string_view bytes);
  /// close_notify.
  void notify();
  bool resumed() const;
  /// True if the client sent data before its handshake was over; the server would have taken it.
  bool early_data() const;

  RawSocket& socket() { return socket_; }
  const std::string& received() const { return received_; }

 private:
  RawSocket socket_;
  SSL* connection_;
  std::string received_;
};

}  // namespace reprise::play
