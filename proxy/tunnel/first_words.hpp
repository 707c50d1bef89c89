// The moment after a stream stands: both ends are listened to until one has spoken.
#pragma once

#include "proxy/http/first_bytes.hpp"
#include "proxy/io/block.hpp"
#include "proxy/io/stream.hpp"

namespace reprise::net {

/// `upstream`: null while there is none. Waits at most `limit`; a request target of more than
/// `longest_target` bytes makes it opaque. Reads what the client sends into `from_client`, behind what is
/// there, and nothing of the upstream's. Never `more`. A client that leaves makes it opaque: the tunnel finds
/// out. Both streams work on afterwards.
Task<http::FirstWords> first_words(Stream& client, Buffer& from_client, Stream* upstream,
                                   const http::Connect& tunnel, std::size_t longest_target, Duration limit);

}  // namespace reprise::net
