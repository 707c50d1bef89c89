// The source of random numbers, passed as an argument. Tests use a fixed seed; the proxy takes its seed from
// the kernel's entropy.
#pragma once

#include <cstdint>

namespace reprise::policy {

/// A source of random whole numbers. Not thread-safe: use one per thread.
class Dice {
 public:
  virtual ~Dice() = default;
  /// Returns a number from 0 to `highest`, both included.
  virtual std::uint64_t roll(std::uint64_t highest) = 0;
};

/// Uniform numbers from a seed (SplitMix64). The same seed gives the same numbers on every machine.
class SeededDice final : public Dice {
 public:
  explicit SeededDice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t roll(std::uint64_t highest) override;

 private:
  std::uint64_t state_;
};

}  // namespace reprise::policy
