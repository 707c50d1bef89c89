#include "tests/soak/content.hpp"

#include <algorithm>
#include <string>

#include "tests/support/chance.hpp"

namespace reprise::soak {
namespace {

// Not a power of two, so that data shifted by the size of a buffer is noticed.
constexpr std::uint64_t period = (std::uint64_t{1} << 20) + 7;
constexpr std::uint64_t step = 7919;

std::string draw_pattern() {
  play::Chance chance(11);
  std::string pattern;
  pattern.reserve(2 * period);
  while (pattern.size() < period) pattern.push_back(chance.byte());
  return pattern + pattern;
}

}  // namespace

std::string_view content(std::uint64_t number, std::uint64_t offset, std::uint64_t most) {
  static const std::string pattern = draw_pattern();
  const std::uint64_t at = (number * step + offset) % period;
  return std::string_view(pattern).substr(at, std::min(most, period));
}

bool is_content(std::uint64_t number, std::uint64_t offset, std::string_view piece) {
  while (!piece.empty()) {
    const std::string_view right = content(number, offset, piece.size());
    if (piece.substr(0, right.size()) != right) return false;
    piece.remove_prefix(right.size());
    offset += right.size();
  }
  return true;
}

}  // namespace reprise::soak
