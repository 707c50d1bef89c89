// Requirements on the other side of a TLS connection: the name in its certificate, and the version of HTTP.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <string>

namespace reprise::net {

/// Requires that the other side proves `name`; call before the handshake. Only subject alternative names
/// count, without partial wildcards inside a label (RFC 9110 4.3.4). A host name is also sent as SNI. Returns
/// false if `name` is neither a host name nor an address.
bool require_name(SSL*, const std::string& name);
/// The version of HTTP that a connection to an upstream is for. `either`: the upstream chooses, and may
/// choose HTTP/2.
enum class Protocol : std::uint8_t { http1, http2, either };

/// Makes the connection offer `h2` in ALPN; for `either`, `http/1.1` too. For `http1`, the TLS settings apply
/// unchanged. Call before the handshake.
void offer(SSL*, Protocol);
/// Allows a client to choose HTTP/2 in the handshake, where this proxy is the server. Call before the
/// handshake.
void allow_http2(SSL*);
bool allows_http2(SSL*);
/// Returns true if ALPN chose `h2`. Call after the handshake.
bool has_selected_http2(SSL*);
/// Returns true if ALPN chose an allowed protocol. Except for `http2`, the upstream may also choose none.
/// Call after the handshake.
bool is_selected(SSL*, Protocol);

}  // namespace reprise::net
