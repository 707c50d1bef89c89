#include "proxy/net/tls/tls_demands.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
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

namespace {

std::string_view selected(SSL* connection) {
  const unsigned char* chosen = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(connection, &chosen, &length);
  return {reinterpret_cast<const char*>(chosen), length};
}

}  // namespace

void offer(SSL* connection, Protocol protocol) {
  if (protocol == Protocol::http1) return;
  constexpr std::array<unsigned char, 12> offered{2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  constexpr unsigned both = offered.size();
  constexpr unsigned http2_alone = 3;
  SSL_set_alpn_protos(connection, offered.data(), protocol == Protocol::http2 ? http2_alone : both);
}

// The server's side has no other use for the connection's own pointer.
void allow_http2(SSL* connection) {
  static char mark = 0;
  SSL_set_app_data(connection, &mark);
}

bool allows_http2(SSL* connection) { return SSL_get_app_data(connection) != nullptr; }

bool has_selected_http2(SSL* connection) { return selected(connection) == "h2"; }

bool is_selected(SSL* connection, Protocol protocol) {
  if (has_selected_http2(connection)) return protocol != Protocol::http1;
  const std::string_view chosen = selected(connection);
  return protocol != Protocol::http2 && (chosen.empty() || chosen == "http/1.1");
}

}  // namespace reprise::net
