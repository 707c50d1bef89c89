// A fresh connection to an upstream: by way of its parent
// proxy where it has one, over TLS where it is one of TLS.
#pragma once

#include "proxy/net/dial/parent.hpp"

namespace reprise::net {

/// Nothing of a request has been sent on it. Each address has the time of one step, for the dial and, where
/// the upstream is one of TLS, the handshake; all of them share twice that, and none of it passes the
/// deadline (ConnectTime). Bytes that came before anything was asked are in `early`. `cancel` can stop it:
/// cancelled. An upstream without a parent has no use for the rest of the route.
Task<Dialled> connect(Dialer&, const ParentRoute&, ConnectTime, AttemptCancel&, Buffer& early);

}  // namespace reprise::net
