#include "tests/support/tls_end.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <csignal>
#include <fstream>
#include <utility>

namespace reprise::play {
namespace {

int choose(SSL*, const unsigned char** out, unsigned char* length, const unsigned char*, unsigned,
           void* protocol) {
  const auto& wanted = *static_cast<const std::string*>(protocol);
  *out = reinterpret_cast<const unsigned char*>(wanted.data());
  *length = static_cast<unsigned char>(wanted.size());
  return wanted.empty() ? SSL_TLSEXT_ERR_NOACK : SSL_TLSEXT_ERR_OK;
}

// Staples a copy of the OCSP response; the connection owns this copy.
int bring_along(SSL* connection, void* staple) {
  const auto& text = *static_cast<const std::string*>(staple);
  if (text.empty()) return SSL_TLSEXT_ERR_NOACK;
  auto* const copy = static_cast<unsigned char*>(OPENSSL_memdup(text.data(), text.size()));
  SSL_set_tlsext_status_ocsp_resp(connection, copy, static_cast<long>(text.size()));
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsServer::TlsServer(std::string_view protocol)
    : settings_(SSL_CTX_new(TLS_server_method())), protocol_(protocol) {
  // Ignores SIGPIPE, because OpenSSL's socket calls do not use MSG_NOSIGNAL.
  std::signal(SIGPIPE, SIG_IGN);
  const TlsIdentity own = authority_.issue(serial);
  SSL_CTX_use_certificate(settings_, own.certificate.get());
  SSL_CTX_use_PrivateKey(settings_, own.key.get());
  SSL_CTX_set_alpn_select_cb(settings_, choose, &protocol_);
  SSL_CTX_set_max_early_data(settings_, 16384);
  // Does not use the macro SSL_CTX_set_tlsext_status_cb, which has an old-style cast.
  SSL_CTX_callback_ctrl(settings_, SSL_CTRL_SET_TLSEXT_STATUS_REQ_CB,
                        reinterpret_cast<void (*)()>(bring_along));
  SSL_CTX_set_tlsext_status_arg(settings_, &staple_);
  // Does not use the macro SSL_CTX_add1_chain_cert, which has an old-style cast.
  SSL_CTX_ctrl(settings_, SSL_CTRL_CHAIN_CERT, 1, authority_.certificate());
  publish(root_.pem());
}

void TlsServer::publish(const std::string& pem) const { std::ofstream(file_, std::ios::app) << pem; }

TlsServer::~TlsServer() { SSL_CTX_free(settings_); }

TlsEnd::TlsEnd(const TlsServer& server, RawSocket socket)
    : socket_(std::move(socket)), connection_(SSL_new(server.settings())) {
  SSL_set_fd(connection_, socket_.descriptor());
}

TlsEnd::~TlsEnd() { SSL_free(connection_); }

bool TlsEnd::accept() {
  ERR_clear_error();
  return SSL_accept(connection_) == 1;
}

TlsEndsWith TlsEnd::read() {
  ERR_clear_error();
  std::array<char, 65536> piece{};
  const int got = SSL_read(connection_, piece.data(), static_cast<int>(piece.size()));
  if (got > 0) {
    received_.append(piece.data(), static_cast<std::size_t>(got));
    return TlsEndsWith::bytes;
  }
  if (SSL_get_error(connection_, got) == SSL_ERROR_ZERO_RETURN) return TlsEndsWith::notice;
  const bool ended = ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  return ended ? TlsEndsWith::fin : TlsEndsWith::error;
}

TlsEndsWith TlsEnd::read_to_end() {
  for (;;) {
    if (const TlsEndsWith end = read(); end != TlsEndsWith::bytes) return end;
  }
}

bool TlsEnd::send(std::string_view bytes) {
  ERR_clear_error();
  return SSL_write(connection_, bytes.data(), static_cast<int>(bytes.size())) ==
         static_cast<int>(bytes.size());
}

void TlsEnd::notify() { SSL_shutdown(connection_); }

bool TlsEnd::early_data() const { return SSL_get_early_data_status(connection_) != SSL_EARLY_DATA_NOT_SENT; }

bool TlsEnd::resumed() const { return SSL_session_reused(connection_) == 1; }

}  // namespace reprise::play
