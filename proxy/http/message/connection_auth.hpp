// Detects authentication that belongs to a connection instead of a request: NTLM and Negotiate (row F2). RFC
// 9110 3.3 forbids it, but clients and servers use it.
#pragma once

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Returns true if the request has `Authorization: NTLM ...` or `Negotiate ...`. The upstream then attributes
/// all later requests on that connection to the same user.
bool authenticates_connection(const RequestHead&);
/// Returns true for a 401 or 407 with an NTLM or Negotiate challenge. The client's next request must use the
/// same connection.
bool authenticates_connection(const ResponseHead&);

}  // namespace reprise::http
