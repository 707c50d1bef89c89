// The SOCKS5 handshake between a client and the listener, before the byte stream begins.
#pragma once

#include <string>
#include <variant>

#include "proxy/forward/session/listener_mode.hpp"
#include "proxy/forward/tunnel/socks5.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// Exchanges the greeting and reads the client's request; `limit` is the time for both. Bytes after the
/// request stay in `buffer`. If the result is a rejection, the reply has been sent.
Task<std::variant<StreamGone, http::Rejection, SocksRequest>> greet_socks(net::Stream& client,
                                                                          net::Buffer& buffer,
                                                                          Duration limit);

/// Sends the reply to a well-formed request that is rejected.
Task<void> refuse_socks(net::Stream& client, http::Rejection, Duration limit);

}  // namespace reprise::forward
