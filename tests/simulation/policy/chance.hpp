// Chance for one story: a stream per purpose from one seed, so that one more draw does not shift the others.
#pragma once

#include <cstdint>

#include "proxy/policy/dice.hpp"

namespace reprise::simulation {

enum class Purpose : std::uint8_t { kind, scene, steps, visits, waits };

inline policy::SeededDice dice_for(std::uint64_t seed, Purpose purpose) {
  policy::SeededDice first(seed ^ (static_cast<std::uint64_t>(purpose) << 56U));
  return policy::SeededDice(first.roll(UINT64_MAX));
}

/// Draws from one stream.
class Chance {
 public:
  Chance(std::uint64_t seed, Purpose purpose) : dice_(dice_for(seed, purpose)) {}

  std::uint64_t below(std::uint64_t end) { return dice_.roll(end - 1); }
  bool one_in(std::uint64_t times) { return below(times) == 0; }
  template <typename List>
  const auto& of(const List& list) {
    return list[below(list.size())];
  }
  std::uint64_t bits() { return dice_.roll(UINT64_MAX); }

 private:
  policy::SeededDice dice_;
};

}  // namespace reprise::simulation
