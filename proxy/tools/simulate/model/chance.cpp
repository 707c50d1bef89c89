#include "proxy/tools/simulate/model/chance.hpp"

#include <cmath>
#include <limits>

namespace reprise::tools {
namespace {

constexpr double ln_2 = 0.693147180559945309417232121458;
constexpr double root_of_half = 0.707106781186547524400844362105;

}  // namespace

// Writes x as m * 2^k with m near 1, so that ln x = ln m + k * ln 2. Computes ln m as 2 artanh(s) with s = (m
// - 1) / (m + 1), because the series of artanh converges fast if s is near 0.
double logarithm(double x) {
  int k = 0;
  double m = std::frexp(x, &k);
  if (m < root_of_half) {
    m *= 2;
    --k;
  }
  const double s = (m - 1) / (m + 1);
  const double square = s * s;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * square + 1.0 / n;
  return 2 * s * sum + static_cast<double>(k) * ln_2;
}

double power_of_e(double x) {
  const double k = std::floor(x / ln_2 + 0.5);
  const double rest = x - k * ln_2;
  double sum = 1;
  for (int n = 15; n >= 1; --n) sum = 1 + rest * sum / n;
  return std::ldexp(sum, static_cast<int>(k));
}

double Chance::uniform() {
  const std::uint64_t bits = dice_.roll(std::numeric_limits<std::uint64_t>::max()) >> 11;
  return static_cast<double>(bits) * 0x1.0p-53;
}

double Chance::exponential() { return -logarithm(1 - uniform()); }

double Chance::normal() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  double a = 0;
  double b = 0;
  double square = 0;
  do {
    a = 2 * uniform() - 1;
    b = 2 * uniform() - 1;
    square = a * a + b * b;
  } while (square >= 1 || square == 0);
  const double stretch = std::sqrt(-2 * logarithm(square) / square);
  kept_ = b * stretch;
  has_kept_ = true;
  return a * stretch;
}

std::uint64_t seed_of(std::uint64_t run, std::uint64_t stream) {
  policy::SeededDice dice(run * 0x9e3779b97f4a7c15ULL + stream);
  return dice.roll(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace reprise::tools
