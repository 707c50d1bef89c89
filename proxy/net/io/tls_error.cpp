#include "proxy/net/io/tls_error.hpp"

#include <openssl/err.h>

#include <system_error>

#include "proxy/net/io/error_category.hpp"

namespace reprise::net {
namespace {

const char* words_of(TlsError error) {
  switch (error) {
    case TlsError::no_close_notify: return "the connection ended without close_notify";
    case TlsError::protocol: return "TLS protocol error";
    case TlsError::certificate: break;
  }
  return "the certificate could not be verified";
}

}  // namespace

ErrorCode make_error_code(TlsError error) {
  static const ErrorCategory<TlsError> category("tls", words_of);
  return {static_cast<int>(error), category};
}

std::string tls_words() {
  const unsigned long oldest = ERR_get_error();
  ERR_clear_error();
  if (oldest == 0) return {};
  if (ERR_SYSTEM_ERROR(oldest)) return std::generic_category().message(ERR_GET_REASON(oldest));
  const char* const reason = ERR_reason_error_string(oldest);
  return reason == nullptr ? "TLS protocol error" : reason;
}

}  // namespace reprise::net
