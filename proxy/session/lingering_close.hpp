// The polite end of a client's connection: FIN first, then
// what the client is still sending is read for a while.
#pragma once

#include "proxy/io/block.hpp"
#include "proxy/io/stream.hpp"

namespace reprise::net {

/// Reads at most 256 KiB for at most 2 s, so that the client's kernel does not throw our response away, then
/// closes (RFC 9112 9.6, rows C5, I4). What is in the buffer is forgotten.
Task<void> lingering_close(Stream&, Buffer&);

}  // namespace reprise::net
