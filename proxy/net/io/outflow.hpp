// Counts the bytes written to a socket that the other host has not acknowledged yet.
#pragma once

#include <cstdint>

namespace reprise::net {

/// Returns how many bytes written to that TCP socket are not acknowledged, including unsent bytes (SIOCOUTQ,
/// tcp(7)). Makes one system call. Returns 0 if the kernel does not report the number.
std::uint64_t unacknowledged_of(int descriptor);

}  // namespace reprise::net
