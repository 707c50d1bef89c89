#include "tests/soak/content.hpp"

#include <algorithm>
#include <string>

namespace reprise::soak {
namespace {

// No power of two, so that a shift by any buffer's size shows.
constexpr std::uint64_t period = (std::uint64_t{1} << 20) + 7;
constexpr std::uint64_t step = 7919;

std::string draw_pattern() {
  Draws draws(11, 0, 0);
  std::string pattern;
  pattern.reserve(2 * period);
  while (pattern.size() < period) pattern.push_back(static_cast<char>(draws.next() & 0xff));
  return pattern + pattern;
}

}  // namespace

Draws::Draws(std::uint64_t seed, std::uint64_t number, std::uint64_t purpose)
    : state_(seed * 0x9e3779b97f4a7c15 + number * 0xd1b54a32d192ed03 + purpose * 0x8cb92ba72f3d8dd7) {
  next();
}

std::uint64_t Draws::next() {
  std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

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
