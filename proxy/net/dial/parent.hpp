// Dials through a parent proxy: connects to it, and opens a tunnel if the parent must not read the request.
#pragma once

#include "proxy/http/message/head.hpp"
#include "proxy/net/dial/connect_time.hpp"
#include "proxy/net/dial/dial_one.hpp"
#include "proxy/net/io/block.hpp"

namespace reprise::net {

/// An upstream that is reached through its parent proxy.
struct ParentRoute {
  Upstream& upstream;              ///< must have a parent
  std::string_view asked_host;     ///< host that the parent must reach; the address filter is applied to it
  const http::RequestHead& cause;  ///< request whose Via fields the CONNECT copies
  bool to_parent;                  ///< true if the request is sent to the parent itself, without a tunnel
};

/// Applies the address filter to every host that the parent would dial for this route. For a redirected
/// connection there are two such hosts: the original destination, and the request's Host, which the parent
/// gets in absolute-form.
AddressVerdict judge_parent_route(const AddressFilter&, const ParentRoute&);

/// Returns a stream to the parent proxy, or through a tunnel that the parent has opened. The parent has
/// `connect_timeout` to respond to the CONNECT. `early` gets the bytes that follow this response. A cancel
/// through AttemptCancel ends the call with the cause `cancelled`. Failures:
/// - parent_unreachable: the parent's name does not resolve, or none of its addresses connects;
/// - parent_timeout: the lookup, the dial, or the response to the CONNECT takes too long;
/// - parent_refused: the parent opens no tunnel;
/// - tls_certificate_error: the parent's certificate does not verify;
/// - address_denied, address_is_self: the address filter rejects the upstream or the parent.
Task<Dialled> dial_through_parent(Dialer&, const ParentRoute&, ConnectTime&, AttemptCancel&, Buffer& early);

}  // namespace reprise::net
