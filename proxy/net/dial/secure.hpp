// From a connected stream to one over TLS, whose other side has proved who it is.
#pragma once

#include "proxy/net/dial/dial.hpp"

namespace reprise::net {

/// Takes `plain` over. Its dial and the handshake have the time of one step together, as far as the other
/// addresses and the deadline have left it; what fails is of stage `tls`. OpenSSL's words go to the log, at
/// most once a second for each upstream. `stop` can stop it: cancelled. `of_parent`: the other side is the
/// parent proxy, whose authorities are those of parent.ca_file.
Task<Dialled> secure(Dialer&, Upstream&, std::unique_ptr<Stream> plain, const ConnectTime&, AttemptCancel&,
                     bool of_parent = false);

}  // namespace reprise::net
