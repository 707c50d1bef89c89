// What a TLS connection demands of the other side: the name in its certificate, and HTTP/1.1.
#pragma once

#include <openssl/types.h>

#include <string>

namespace reprise::net {

/// Before the handshake. Only alternative names count, and no name is matched by a wildcard inside a label
/// (RFC 9110 4.3.4); a host name is sent as SNI too. False for what is neither a name nor an address.
bool demand_name(SSL*, const std::string& name);
/// After it: true if ALPN chose http/1.1, or nothing.
bool is_wanted_protocol(SSL*);

}  // namespace reprise::net
