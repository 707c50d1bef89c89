// Requirements on the other side of a TLS connection: the name in its certificate, and HTTP/1.1.
#pragma once

#include <openssl/types.h>

#include <string>

namespace reprise::net {

/// Requires that the other side proves `name`; call before the handshake. Only subject alternative names
/// count, without partial wildcards inside a label (RFC 9110 4.3.4). A host name is also sent as SNI. Returns
/// false if `name` is neither a host name nor an address.
bool require_name(SSL*, const std::string& name);
/// Returns true if ALPN chose http/1.1 or no protocol. Call after the handshake.
bool is_wanted_protocol(SSL*);

}  // namespace reprise::net
