// What can go wrong in TLS beside what the socket says, as error codes, and the library's own words for it.
#pragma once

#include <string>
#include <type_traits>

#include "proxy/net/io/task.hpp"

namespace reprise::net {

enum class TlsError : std::uint8_t {
  no_close_notify = 1,  ///< FIN without the notice that makes it the end (RFC 9112 9.8): never `eof`
  protocol,             ///< an alert, or bytes that are no TLS, or none that we speak
  certificate,          ///< the other side could not prove who it is
};

ErrorCode make_error_code(TlsError);

/// The oldest error in this thread's queue, in OpenSSL's words without its numbers; empties the queue.
std::string tls_words();

}  // namespace reprise::net

template <>
struct boost::system::is_error_code_enum<reprise::net::TlsError> : std::true_type {};
