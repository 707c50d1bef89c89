#include "proxy/policy/pacing/dice.hpp"

#include <limits>

namespace reprise::policy {
namespace {

std::uint64_t next(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t SeededDice::roll(std::uint64_t highest) {
  constexpr auto top = std::numeric_limits<std::uint64_t>::max();
  if (highest == top) return next(state_);
  // Numbers at or above the last whole multiple of `faces` are drawn again, so that all results have the same
  // probability.
  const std::uint64_t faces = highest + 1;
  const std::uint64_t fair = top - top % faces;
  std::uint64_t number = next(state_);
  while (number >= fair) number = next(state_);
  return number % faces;
}

}  // namespace reprise::policy
