// Makes a verified TLS stream from a connected stream.
#pragma once

#include "proxy/net/dial/dial.hpp"

namespace reprise::net {

/// Takes over `plain`. The dial and the handshake together may take `connect_timeout`. The deadline, or the
/// time limit that all addresses share, may end them earlier. Failures have stage `tls`. OpenSSL's
/// description is logged at most once a second per upstream. A cancel through AttemptCancel ends the
/// handshake with the cause `cancelled`. If `of_parent` is set, the other side is the parent proxy, which is
/// verified against `parent.ca_file`.
Task<Dialled> secure(Dialer&, Upstream&, std::unique_ptr<Stream> plain, const ConnectTime&, AttemptCancel&,
                     bool of_parent = false);

}  // namespace reprise::net
