// How much of what was written to a socket the other host has not acknowledged yet.
#pragma once

#include <cstdint>

namespace reprise::net {

/// Bytes that were written to that TCP socket and not acknowledged, those that wait in this host included
/// (SIOCOUTQ, tcp(7)): one system call. 0 if the kernel does not say.
std::uint64_t unacknowledged_of(int descriptor);

}  // namespace reprise::net
