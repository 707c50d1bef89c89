// Seeded chance with its distributions written by hand: the same numbers from every standard library.
#pragma once

#include <cstdint>

#include "proxy/policy/pacing/dice.hpp"

namespace reprise::tools {

/// Natural logarithm of a finite x above 0, to within 2e-15 of its size. From the four operations alone,
/// which IEEE 754 (clause 5.4.1) rounds alike everywhere; `std::log` is rounded as each library likes.
double logarithm(double x);
/// e to the power of x, to within 1e-14 of its size; x from -700 to 700.
double power_of_e(double x);

/// One stream of chance. Not thread-safe.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : dice_(seed) {}

  /// From 0 up to, never at, 1.
  double uniform();
  /// Mean 1, above or at 0.
  double exponential();
  /// Mean 0, deviation 1 (Marsaglia's polar method).
  double normal();

 private:
  policy::SeededDice dice_;
  double kept_ = 0;
  bool has_kept_ = false;
};

/// A seed for one of several streams of a run, so that what one draws does not move the others.
std::uint64_t seed_of(std::uint64_t run, std::uint64_t stream);

}  // namespace reprise::tools
