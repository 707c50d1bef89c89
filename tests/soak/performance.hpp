// The upstream's side of a request: reads the request, checks every byte, and responds or fails as planned.
#pragma once

#include "tests/soak/ledger.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

/// Serves one connection until it ends.
Task<void> perform(Ledger& ledger, tcp::socket socket);

/// Serves the inside of a tunnel: reads a line with a request number, then the content of that request, and
/// sends the content back.
Task<void> perform_tunnel(Ledger& ledger, tcp::socket socket);

}  // namespace reprise::soak
