// What a SOCKS5 client and its listener say to each other before there is a stream.
#pragma once

#include <string>
#include <variant>

#include "proxy/io/block.hpp"
#include "proxy/io/stream.hpp"
#include "proxy/tunnel/socks5.hpp"

namespace reprise::net {

/// The client left, or was too slow (`late`).
struct SocksGone {
  bool late = false;
};

/// Greets, and reads what the client wants, within `limit` for both; what comes behind it stays in `buffer`.
/// A refusal has been told to the client.
Task<std::variant<SocksGone, http::Rejection, http::SocksRequest>> greet_socks(Stream& client, Buffer& buffer,
                                                                               Duration limit);

/// What a client is told whose request is well-formed and goes nowhere.
Task<void> refuse_socks(Stream& client, http::Rejection, Duration limit);

}  // namespace reprise::net
