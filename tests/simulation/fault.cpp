#include "tests/simulation/fault.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/purpose.hpp"

namespace reprise::simulation {

std::string_view word(Fault fault) { return policy::names_of<Fault>[static_cast<std::size_t>(fault)]; }

Faults::Faults(Seed seed, std::vector<std::uint32_t> left_out) : left_out_(std::move(left_out)) {
  Chance chance(seed, Purpose::swarm);
  // One story in eight has no faults. In such a story, nothing may fail.
  if (chance.one_in(8)) return;
  for (std::size_t kind = 0; kind < fault_count; ++kind) kinds_.set(kind, chance.one_in(2));
}

bool Faults::plays(Fault kind, bool drawn) {
  if (!drawn || over_ || !knows(kind)) return false;
  const std::uint32_t number = next_++;
  if (std::binary_search(left_out_.begin(), left_out_.end(), number)) return false;
  ++counts_[static_cast<std::size_t>(kind)];
  return true;
}

}  // namespace reprise::simulation
