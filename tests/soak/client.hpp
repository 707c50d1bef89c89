// Carries out one request of one client: sends the request as its plan says, and checks every byte of the
// response.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tests/soak/ledger.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

/// Things that a request needs besides its plan.
struct Errand {
  Ledger& ledger;
  tcp::endpoint proxy;
  std::function<std::uint16_t(Listener)> port;
};

struct Done {
  bool again = false;      ///< the connection can carry another request
  bool untouched = false;  ///< the first attempt succeeded
};

/// Carries out one request, and reports to the ledger how it ended.
Task<Done> carry_out(Errand& errand, Wire& wire, Plan plan);

/// Carries out several GETs that are sent in one write. If the connection ends early, appends the numbers of
/// the GETs without a response to `unheard`.
Task<Done> carry_out_pipeline(Errand& errand, Wire& wire, std::span<const std::uint64_t> numbers,
                              std::vector<std::uint64_t>& unheard);

}  // namespace reprise::soak
