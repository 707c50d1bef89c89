// Random numbers from a seed. The distributions are implemented here, so that every standard library gives
// the same numbers.
#pragma once

#include <cstdint>

#include "proxy/policy/pacing/dice.hpp"

namespace reprise::tools {

/// Returns the natural logarithm with a relative error below 2e-15. Uses only the four basic operations,
/// which IEEE 754 (clause 5.4.1) rounds the same everywhere; libraries round `std::log` differently.
/// Precondition: x is finite and above 0.
double logarithm(double x);
/// Returns e to the power of x with a relative error below 1e-14. Precondition: x is from -700 to 700.
double power_of_e(double x);

/// One stream of random numbers. Not thread-safe.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : dice_(seed) {}

  /// Returns a uniform random number in the range 0 <= x < 1.
  double uniform();
  /// Returns an exponentially distributed random number with mean 1.
  double exponential();
  /// Returns a normally distributed random number with mean 0 and standard deviation 1 (Marsaglia's polar
  /// method).
  double normal();

 private:
  policy::SeededDice dice_;
  double kept_ = 0;
  bool has_kept_ = false;
};

/// Returns the seed of one random stream of a run. The streams of a run are independent of each other.
std::uint64_t seed_of(std::uint64_t run, std::uint64_t stream);

}  // namespace reprise::tools
