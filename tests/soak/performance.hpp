// One request at the upstream: reads it, checks every byte, and plays its fate.
#pragma once

#include "tests/soak/ledger.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

/// Serves one connection until it ends.
Task<void> perform(Ledger& ledger, tcp::socket socket);

/// Serves the inside of a tunnel: reads a line with a number and the content of that request, and sends the
/// same content back.
Task<void> perform_tunnel(Ledger& ledger, tcp::socket socket);

}  // namespace reprise::soak
