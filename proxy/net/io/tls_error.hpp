// TLS errors as error codes, beside those of the socket, and OpenSSL's description of them.
#pragma once

#include <string>
#include <type_traits>

#include "proxy/net/io/task.hpp"

namespace reprise::net {

enum class TlsError : std::uint8_t {
  no_close_notify = 1,  ///< FIN without close_notify (RFC 9112 9.8); never reported as `eof`
  protocol,             ///< an alert, bytes that are not TLS, or an unsupported version
  certificate,          ///< the other side's certificate does not verify
};

ErrorCode make_error_code(TlsError);

/// Returns the oldest error of this thread's OpenSSL queue as text without numbers, and empties the queue.
/// Empty if the queue has no error.
std::string tls_words();

}  // namespace reprise::net

template <>
struct boost::system::is_error_code_enum<reprise::net::TlsError> : std::true_type {};
