// Chance in a story: one seed, and a stream of numbers for each purpose, so that one more draw shifts no
// other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "proxy/policy/dice.hpp"
#include "proxy/policy/instant.hpp"
#include "tests/simulation/seed.hpp"

namespace reprise::simulation {

/// What numbers are drawn for. Each has a stream of its own.
enum class Purpose : std::uint8_t { order, swarm, policy, clients, dials, names, answers, pieces, proxy };

/// Used by one thread.
class Chance {
 public:
  /// `which` tells streams of one purpose apart: a request's number, a dial's.
  Chance(Seed seed, Purpose purpose, std::uint64_t which = 0)
      : dice_(mixed(mixed(seed.number, static_cast<std::uint64_t>(purpose) + 1), which)), tape_(seed.tape) {}

  /// A number in [0, end); `end` is not 0.
  std::uint64_t below(std::uint64_t end) { return roll(end - 1); }
  std::uint64_t between(std::uint64_t lowest, std::uint64_t highest) {
    return lowest + roll(highest - lowest);
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <typename T>
  T of(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }
  policy::Duration milliseconds(std::uint64_t lowest, std::uint64_t highest) {
    return std::chrono::milliseconds(between(lowest, highest));
  }

  /// A number that depends on both in every bit.
  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    policy::SeededDice dice(a ^ (b * 0x9E3779B97F4A7C15U));
    return dice.roll(~std::uint64_t{0} - 1);
  }

 private:
  std::uint64_t roll(std::uint64_t highest) {
    return tape_ == nullptr || tape_->empty() ? dice_.roll(highest) : tape_->take(highest);
  }

  policy::SeededDice dice_;
  Tape* tape_;
};

}  // namespace reprise::simulation
