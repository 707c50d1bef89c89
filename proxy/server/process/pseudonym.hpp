// The name of this proxy in Via and Proxy-Status (RFC 9110, section 7.6.3), new at each start. Proxy loops
// are detected by this name.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::server {

/// Returns a random number from the system's entropy. Thread-safe.
std::uint64_t random_number();

/// Returns "reprise-" and six letters or digits.
std::string make_pseudonym();

}  // namespace reprise::server
