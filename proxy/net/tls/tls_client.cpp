#include "proxy/net/tls/tls_client.hpp"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <optional>

#include "proxy/net/io/tls_error.hpp"
#include "proxy/net/tls/file_digest.hpp"
#include "proxy/net/tls/root_places.hpp"
#include "proxy/net/tls/tls_files.hpp"
#include "proxy/net/tls/tls_remarks.hpp"
#include "proxy/net/tls/tls_revocation.hpp"

namespace reprise::net {
namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& file, const std::string& why) {
  throw std::runtime_error("tls." + key + " " + file + " cannot be used: " + why);
}

// Callback of OpenSSL: returns the configured passphrase. Without this callback OpenSSL would prompt on the
// terminal.
int give_passphrase(char* room, int size, int, void* configured) {
  const auto* passphrase = static_cast<const std::string*>(configured);
  if (passphrase == nullptr || passphrase->size() > static_cast<std::size_t>(size)) return 0;
  return static_cast<int>(passphrase->copy(room, passphrase->size()));
}

// Callback of OpenSSL: stores a new session in the ticket of the connection's upstream. Returns 1 to take
// ownership of the session.
int keep_session(SSL* connection, SSL_SESSION* session) {
  auto* ticket = static_cast<TlsTicket*>(SSL_get_app_data(connection));
  if (ticket == nullptr) return 0;
  ticket->newest.reset(session);
  return 1;
}

void refuse_special(const std::string& key, const std::string& file) {
  if (const std::string trouble = trouble_with_kind(file); !trouble.empty()) refuse(key, file, trouble);
}

void trust(SSL_CTX* settings, const std::optional<std::string>& ca_file) {
  if (ca_file) refuse_special("ca_file", *ca_file);
  if (!ca_file) {
    if (SSL_CTX_set_default_verify_paths(settings) != 1) refuse("ca_file", "system", tls_words());
  } else if (SSL_CTX_load_verify_file(settings, ca_file->c_str()) != 1) {
    refuse("ca_file", *ca_file, trouble_with(*ca_file, TlsFile::trusted));
  } else if (!holds(settings, X509_LU_X509)) {
    refuse("ca_file", *ca_file,
           "it contains only revocation lists: add the certificates that reprise must trust");
  } else {
    // Every certificate in `ca_file` is trusted, even if it is not a root: it may be an intermediate
    // authority or the upstream's own certificate (row N10).
    X509_STORE_set_flags(SSL_CTX_get_cert_store(settings), X509_V_FLAG_PARTIAL_CHAIN);
  }
}

void identify(SSL_CTX* settings, const policy::TlsPolicy& policy) {
  if (!policy.certificate || !policy.key) return;
  refuse_special("certificate", *policy.certificate);
  refuse_special("key", *policy.key);
  std::string passphrase = policy.key_passphrase.value_or("");
  SSL_CTX_set_default_passwd_cb(settings, give_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(settings, policy.key_passphrase ? &passphrase : nullptr);
  if (SSL_CTX_use_certificate_chain_file(settings, policy.certificate->c_str()) != 1)
    refuse("certificate", *policy.certificate, trouble_with(*policy.certificate, TlsFile::certificate));
  if (SSL_CTX_use_PrivateKey_file(settings, policy.key->c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(settings) != 1) {
    const std::string trouble = trouble_with(*policy.key, TlsFile::key, *policy.certificate);
    const bool is_encrypted = trouble.starts_with("the key is encrypted");
    refuse("key", *policy.key,
           is_encrypted && policy.key_passphrase ? "the passphrase in tls.key_passphrase is wrong" : trouble);
  }
  SSL_CTX_set_default_passwd_cb_userdata(settings, nullptr);
  OPENSSL_cleanse(passphrase.data(), passphrase.size());
  // Some servers request a client certificate only after they have read the request (only in TLS 1.3, row
  // N9).
  SSL_CTX_set_post_handshake_auth(settings, 1);
}

}  // namespace

bool same_files(const policy::TlsPolicy& one, const policy::TlsPolicy& other) {
  return one.ca_file == other.ca_file && one.certificate == other.certificate && one.key == other.key &&
         one.key_passphrase == other.key_passphrase;
}

TlsSettingsError::TlsSettingsError(const policy::Route& route, const std::string& why)
    : std::runtime_error("route " + route.name + ": " + why), line_(route.line) {}

void FreeTls::operator()(SSL_CTX* settings) const { SSL_CTX_free(settings); }
void FreeTls::operator()(ssl_session_st* session) const { SSL_SESSION_free(session); }

TlsClient::TlsClient(const policy::TlsPolicy& policy, std::size_t number)
    : settings_(SSL_CTX_new(TLS_client_method())), number_(number) {
  if (settings_ == nullptr) throw std::runtime_error("TLS cannot be set up: " + tls_words());
  SSL_CTX* const settings = settings_.get();
  ERR_clear_error();
  SSL_CTX_set_min_proto_version(settings, TLS1_2_VERSION);
  SSL_CTX_set_options(settings, SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(settings, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(settings, 1);
  SSL_CTX_set_verify(settings, SSL_VERIFY_PEER, nullptr);
  note_certificate_requests(settings);
  SSL_CTX_set_session_cache_mode(settings, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(settings, keep_session);
  constexpr std::array<unsigned char, 9> http_1_1{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(settings, http_1_1.data(), http_1_1.size());
  trust(settings, policy.ca_file);
  refuse_revoked(settings);
  identify(settings, policy);
}

std::optional<std::int64_t> TlsClient::certificate_expires() const {
  const X509* const own = SSL_CTX_get0_certificate(settings_.get());
  std::tm until{};
  if (own == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(own), &until) != 1) return std::nullopt;
  return ::timegm(&until);
}

std::vector<std::pair<std::string, std::int64_t>> TlsClients::certificate_ends() const {
  std::vector<std::pair<std::string, std::int64_t>> ends;
  for (const Made& made : clients_) {
    if (const auto expires = made.client->certificate_expires())
      ends.emplace_back(*made.policy.certificate, *expires);
  }
  return ends;
}

// Digests the files before OpenSSL reads them. If a file changes in between, the next reload detects the
// change.
TlsClients::Made TlsClients::make(const policy::TlsPolicy& policy, const std::vector<Made>& before) {
  std::vector<std::string> files;
  for (const auto& file : {policy.ca_file, policy.certificate, policy.key}) {
    if (file) files.push_back(*file);
  }
  // A TlsClient reads the system's root file only once, and keeps the roots of a folder after their first use
  // (row N4). The digest therefore includes the root file and the folders, so that a change makes a new
  // TlsClient.
  if (!policy.ca_file) {
    for (std::string& place : root_places().all()) files.push_back(std::move(place));
  }
  std::string held = digest_of_files(files);
  for (const Made& old : before) {
    if (same_files(old.policy, policy) && old.held == held) return {policy, std::move(held), old.client};
  }
  return {policy, std::move(held), std::make_shared<const TlsClient>(policy, made_++)};
}

TlsClients::TlsClients(const policy::RouteTable& routes, const policy::TlsPolicy* parent,
                       const TlsClients* before)
    : made_(before == nullptr ? 0 : before->made_) {
  const std::vector<Made> none;
  for (std::size_t route = 0; route < routes.size(); ++route) {
    const policy::TlsPolicy& wanted = routes[route].policy.tls;
    auto found = std::find_if(clients_.begin(), clients_.end(),
                              [&](const Made& made) { return same_files(made.policy, wanted); });
    if (found == clients_.end()) {
      try {
        clients_.push_back(make(wanted, before == nullptr ? none : before->clients_));
      } catch (const std::runtime_error& error) {
        throw TlsSettingsError(routes[route], error.what());
      }
      found = std::prev(clients_.end());
    }
    by_route_.push_back(found->client.get());
  }
  if (parent == nullptr) return;
  try {
    parents_.push_back(make(*parent, before == nullptr ? none : before->parents_));
  } catch (const std::runtime_error& error) {
    throw TlsSettingsError("parent: " + std::string(error.what()));
  }
}

}  // namespace reprise::net
