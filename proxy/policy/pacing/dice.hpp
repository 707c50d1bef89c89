// Chance as an argument: who rolls decides whether a test or the kernel's entropy is behind it.
#pragma once

#include <cstdint>

namespace reprise::policy {

/// A source of whole numbers. Not thread-safe: one per thread.
class Dice {
 public:
  virtual ~Dice() = default;
  /// A number in [0, highest], both ends possible.
  virtual std::uint64_t roll(std::uint64_t highest) = 0;
};

/// Uniform numbers from a seed (SplitMix64); the same seed rolls the same numbers everywhere.
class SeededDice final : public Dice {
 public:
  explicit SeededDice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t roll(std::uint64_t highest) override;

 private:
  std::uint64_t state_;
};

}  // namespace reprise::policy
