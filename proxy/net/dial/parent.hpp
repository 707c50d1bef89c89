// Dialling through a parent proxy: a connection to it, and for what must not be read by it a tunnel.
#pragma once

#include "proxy/http/message/head.hpp"
#include "proxy/net/dial/connect_time.hpp"
#include "proxy/net/dial/dial_one.hpp"
#include "proxy/net/io/block.hpp"

namespace reprise::net {

/// The upstream that is dialled for, by way of its parent proxy.
struct ParentRoute {
  Upstream& upstream;              ///< has a parent
  std::string_view asked_host;     ///< whom the parent is asked for; judged beside the upstream's own host
  const http::RequestHead& cause;  ///< whose Via a CONNECT of ours goes on from
  bool to_parent;                  ///< the request is for the parent itself to read: no tunnel
};

/// Judges every host that the parent would dial for this route. Of a redirected connection these are two: the
/// original destination, and the Host of the request, which the parent gets in absolute-form.
AddressVerdict judge_parent_route(const AddressFilter&, const ParentRoute&);

/// A stream to the parent proxy, or through its CONNECT, whose response has the time of one step. What came
/// behind that response is in `early`. Fails as parent_unreachable where the parent's name or no address of
/// it stands, as parent_timeout where one of these or its response takes too long, and as parent_refused
/// where it opens no tunnel; as tls_certificate_error where the parent's certificate does not verify; as
/// address_denied and address_is_self for the upstream's address and for the parent's. `cancel` can stop it:
/// cancelled.
Task<Dialled> dial_through_parent(Dialer&, const ParentRoute&, ConnectTime&, AttemptCancel&, Buffer& early);

}  // namespace reprise::net
