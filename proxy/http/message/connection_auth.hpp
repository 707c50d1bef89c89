// Authentication that belongs to a connection and not to a request (NTLM, Negotiate): what RFC 9110 3.3
// forbids, and is done all the same (row F2).
#pragma once

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// `Authorization: NTLM ...` or `Negotiate ...`: whoever
/// sends on its connection next is taken for this client.
bool authenticates_connection(const RequestHead&);
/// 401 or 407 with a challenge of such a scheme: the
/// client's next request has to come on the same connection.
bool authenticates_connection(const ResponseHead&);

}  // namespace reprise::http
