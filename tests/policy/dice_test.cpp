// Tests the seeded dice: uniform, the same on every machine, and correct at both ends of the range.
#include "proxy/policy/pacing/dice.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace reprise::policy {
namespace {

constexpr auto top = std::numeric_limits<std::uint64_t>::max();

std::vector<std::uint64_t> rolls(std::uint64_t seed, std::uint64_t highest, int times) {
  SeededDice dice(seed);
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < times; ++i) numbers.push_back(dice.roll(highest));
  return numbers;
}

// The first numbers of SplitMix64 from seed 0, as published by its authors.
TEST(Dice, random_numbers_match_the_published_splitmix64_values) {
  EXPECT_EQ(rolls(0, top, 3),
            (std::vector<std::uint64_t>{0xe220a8397b1dcdafU, 0x6e789e6aa1b965f4U, 0x06c45d188009454fU}));
}

TEST(Dice, same_seed_gives_the_same_numbers) {
  EXPECT_EQ(rolls(42, 1000, 100), rolls(42, 1000, 100));
  EXPECT_NE(rolls(42, 1000, 100), rolls(43, 1000, 100));
}

TEST(Dice, range_of_one_value_always_gives_that_value) {
  for (const std::uint64_t number : rolls(1, 0, 100)) EXPECT_EQ(number, 0U);
}

TEST(Dice, no_number_exceeds_the_requested_maximum) {
  for (const std::uint64_t highest : {1UL, 2UL, 1000UL, 1UL << 63U, top - 1, top}) {
    for (const std::uint64_t number : rolls(9, highest, 200)) EXPECT_LE(number, highest);
  }
}

TEST(Dice, both_ends_of_the_range_occur) {
  std::array<int, 3> seen{};
  for (const std::uint64_t number : rolls(2, 2, 100)) ++seen.at(number);
  for (const int times : seen) EXPECT_GT(times, 0);
}

// Chi-squared test over 10 faces and 100,000 rolls. The statistic of one fair die in a thousand exceeds 27.9.
// The seed is fixed, so the result is always the same.
TEST(Dice, random_numbers_are_uniformly_distributed) {
  std::array<double, 10> seen{};
  for (const std::uint64_t number : rolls(77, 9, 100'000)) ++seen.at(number);
  double chi_squared = 0;
  for (const double times : seen) chi_squared += (times - 10'000) * (times - 10'000) / 10'000;
  EXPECT_LT(chi_squared, 27.9);
}

// With 3 * 2^62 faces a plain remainder would make the lower third twice as likely.
TEST(Dice, large_ranges_have_no_modulo_bias) {
  constexpr std::uint64_t third = 1UL << 62U;
  int low = 0;
  for (const std::uint64_t number : rolls(5, 3 * third - 1, 30'000)) low += number < third ? 1 : 0;
  EXPECT_NEAR(low, 10'000, 400);
}

}  // namespace
}  // namespace reprise::policy
