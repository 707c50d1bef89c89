// The name by which this proxy knows itself in Via and
// Proxy-Status (RFC 9110, section 7.6.3), new at each start.
#pragma once

#include <cstdint>
#include <string>

namespace reprise::server {

/// Of the system's entropy. Any thread.
std::uint64_t random_number();

/// "reprise-" and six letters or digits.
std::string make_pseudonym();

}  // namespace reprise::server
