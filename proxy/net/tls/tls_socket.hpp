// What OpenSSL reads from and writes to: a non-blocking socket, without signals, whose last error is kept; or
// a link that it runs over.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <string>

#include "proxy/net/io/link.hpp"

namespace reprise::net {

/// Outlives the connection that is attached to it.
struct TlsSocketErrors {
  int descriptor = -1;
  Link* below = nullptr;  ///< in the place of the descriptor
  int code = 0;           ///< errno of the first call that failed
  bool fin = false;       ///< the other side has finished
  std::string before{};   ///< what was read from the socket already: it comes first
  std::size_t taken = 0;  ///< of that
};

/// The connection uses the socket from now on. Throws std::bad_alloc.
void attach_socket(SSL* connection, TlsSocketErrors& socket);

}  // namespace reprise::net
