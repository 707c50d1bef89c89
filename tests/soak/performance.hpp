// One request at the upstream: reads it, checks every byte, and plays its fate.
#pragma once

#include "tests/soak/ledger.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

/// Plays one connection to its end.
Task<void> perform(Ledger& ledger, tcp::socket socket);

/// The service behind a tunnel: `NUMBER\n` and the content of that request, answered with the same content.
Task<void> perform_tunnel(Ledger& ledger, tcp::socket socket);

}  // namespace reprise::soak
