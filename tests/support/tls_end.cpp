#include "tests/support/tls_end.hpp"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace reprise::play {
namespace {

void add_extension(X509* certificate, int kind, const char* value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

X509* make_certificate(EVP_PKEY* key) {
  constexpr long day = 24 * 60 * 60;
  X509* const certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -day);
  X509_gmtime_adj(X509_getm_notAfter(certificate), day);
  X509_set_pubkey(certificate, key);
  X509_NAME* const name = X509_get_subject_name(certificate);
  const std::array<unsigned char, 4> text{'t', 'e', 's', 't'};
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text.data(), text.size(), -1, 0);
  X509_set_issuer_name(certificate, name);
  add_extension(certificate, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
  X509_sign(certificate, key, EVP_sha256());
  return certificate;
}

std::string write_pem(X509* certificate) {
  std::string path = (std::filesystem::temp_directory_path() / "reprise-test-XXXXXX").string();
  const int descriptor = ::mkstemp(path.data());
  std::FILE* const file = ::fdopen(descriptor, "w");
  PEM_write_X509(file, certificate);
  std::fclose(file);
  return path;
}

int choose(SSL*, const unsigned char** out, unsigned char* length, const unsigned char*, unsigned,
           void* protocol) {
  const auto& wanted = *static_cast<const std::string*>(protocol);
  *out = reinterpret_cast<const unsigned char*>(wanted.data());
  *length = static_cast<unsigned char>(wanted.size());
  return wanted.empty() ? SSL_TLSEXT_ERR_NOACK : SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsServer::TlsServer(std::string_view protocol)
    : settings_(SSL_CTX_new(TLS_server_method())), protocol_(protocol) {
  // OpenSSL's own socket calls know no MSG_NOSIGNAL.
  std::signal(SIGPIPE, SIG_IGN);
  std::string curve("P-256");  // EVP_EC_gen() casts a const away
  EVP_PKEY* const key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve.data());
  X509* const certificate = make_certificate(key);
  SSL_CTX_use_certificate(settings_, certificate);
  SSL_CTX_use_PrivateKey(settings_, key);
  SSL_CTX_set_alpn_select_cb(settings_, choose, &protocol_);
  SSL_CTX_set_max_early_data(settings_, 16384);
  file_ = write_pem(certificate);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

TlsServer::~TlsServer() {
  SSL_CTX_free(settings_);
  ::unlink(file_.c_str());
}

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
