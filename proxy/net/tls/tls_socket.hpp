// The transport that OpenSSL uses (a BIO): a non-blocking socket, or another link. Raises no SIGPIPE, and
// keeps the first error.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <string>

#include "proxy/net/io/link.hpp"

namespace reprise::net {

/// The transport of one TLS connection, with its first error. Must outlive the SSL object that it is attached
/// to.
struct TlsSocketErrors {
  int descriptor = -1;
  Link* below = nullptr;  ///< link that is used instead of the descriptor; null: the descriptor is used
  int code = 0;           ///< errno of the first failed call
  bool fin = false;       ///< the other side has sent FIN
  std::string before{};   ///< bytes that were already read from the socket; OpenSSL reads these first
  std::size_t taken = 0;  ///< number of bytes of `before` already used
};

/// Makes the connection use this transport. Throws std::bad_alloc.
void attach_socket(SSL* connection, TlsSocketErrors& socket);

}  // namespace reprise::net
