#include "proxy/net/tls/tls_demands.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstring>
#include <string_view>

namespace reprise::net {

bool require_name(SSL* connection, const std::string& name) {
  X509_VERIFY_PARAM* const rules = SSL_get0_param(connection);
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) == 1) return true;
  ERR_clear_error();
  X509_VERIFY_PARAM_set_hostflags(rules,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return !name.empty() && X509_VERIFY_PARAM_set1_host(rules, name.data(), name.size()) == 1 &&
         SSL_ctrl(connection, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(name.c_str())) == 1;  // the macro for this has an old-style cast
}

void offer_http2(SSL* connection) {
  constexpr std::array<unsigned char, 3> offered{2, 'h', '2'};
  SSL_set_alpn_protos(connection, offered.data(), offered.size());
}

bool is_selected(SSL* connection, Protocol protocol) {
  const unsigned char* chosen = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(connection, &chosen, &length);
  const std::string_view wanted = protocol == Protocol::http2 ? "h2" : "http/1.1";
  const bool may_choose_none = protocol == Protocol::http1;
  return (may_choose_none && length == 0) ||
         (length == wanted.size() && std::memcmp(chosen, wanted.data(), length) == 0);
}

}  // namespace reprise::net
