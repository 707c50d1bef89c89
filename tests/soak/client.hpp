// One request of one client: sent as its behaviour says, its response read and checked to the last byte.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tests/soak/ledger.hpp"
#include "tests/soak/wire.hpp"

namespace reprise::soak {

/// What a request needs besides its plan.
struct Errand {
  Ledger& ledger;
  tcp::endpoint proxy;
  std::function<std::uint16_t(Listener)> port;
};

struct Done {
  bool again = false;      ///< the connection carries another request
  bool untouched = false;  ///< answered by its first attempt
};

/// Carries one request out; every way out has told the ledger how it ended.
Task<Done> carry_out(Errand& errand, Wire& wire, Plan plan);

/// Carries several GETs out that leave in one write. Those
/// that reprise did not get to are given back in `unheard`.
Task<Done> carry_out_pipeline(Errand& errand, Wire& wire, std::span<const std::uint64_t> numbers,
                              std::vector<std::uint64_t>& unheard);

}  // namespace reprise::soak
