// What a SOCKS5 client and its listener say to each other before there is a stream.
#pragma once

#include <string>
#include <variant>

#include "proxy/forward/session/listener_mode.hpp"
#include "proxy/forward/tunnel/socks5.hpp"
#include "proxy/net/io/block.hpp"
#include "proxy/net/io/stream.hpp"

namespace reprise::forward {

/// Greets, and reads what the client wants, within `limit` for both; what comes behind it stays in `buffer`.
/// A refusal has been told to the client.
Task<std::variant<StreamGone, http::Rejection, SocksRequest>> greet_socks(net::Stream& client,
                                                                          net::Buffer& buffer,
                                                                          Duration limit);

/// What a client is told whose request is well-formed and goes nowhere.
Task<void> refuse_socks(net::Stream& client, http::Rejection, Duration limit);

}  // namespace reprise::forward
