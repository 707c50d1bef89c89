// Makes a fresh connection to an upstream: through its parent proxy if it has one, over TLS if it needs TLS.
#pragma once

#include "proxy/net/dial/parent.hpp"

namespace reprise::net {

/// Returns a connection on which no byte of a request was sent. Each address has `connect_timeout` for its
/// dial and its handshake. All addresses share twice that time, and no step goes past the deadline (see
/// ConnectTime). `early` gets the bytes that arrived before any request was sent. A cancel through
/// AttemptCancel ends the call with the cause `cancelled`. If there is no parent, only `route.upstream` is
/// used.
Task<Dialled> connect(Dialer&, const ParentRoute&, ConnectTime, AttemptCancel&, Buffer& early);

}  // namespace reprise::net
