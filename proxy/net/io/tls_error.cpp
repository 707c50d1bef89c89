#include "proxy/net/io/tls_error.hpp"

#include <openssl/err.h>

#include <system_error>

namespace reprise::net {
namespace {

// GCC warns here because the destructor of Boost's error_category is protected and not virtual.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class TlsCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "tls"; }
  std::string message(int value) const override {
    switch (static_cast<TlsError>(value)) {
      case TlsError::no_close_notify: return "the connection ended without close_notify";
      case TlsError::protocol: return "TLS protocol error";
      case TlsError::certificate: break;
    }
    return "the certificate could not be verified";
  }
};
#pragma GCC diagnostic pop

}  // namespace

ErrorCode make_error_code(TlsError error) {
  static const TlsCategory category;
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
