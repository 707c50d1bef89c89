// From a connected stream to one over TLS, whose other side has proved who it is.
#pragma once

#include "proxy/net/dial.hpp"

namespace reprise::net {

/// Takes `plain` over. `limit` is counted from when it began to connect, so that dial and handshake have it
/// together; what fails is of stage `tls`. OpenSSL's words go to the log, at most once a second for each
/// upstream. `stop` can stop it: cancelled.
Task<Dialled> secure(Loop&, Upstream&, std::unique_ptr<Stream> plain, Duration limit, Stop&);

}  // namespace reprise::net
