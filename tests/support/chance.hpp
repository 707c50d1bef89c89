// Random numbers for all tests: streams of draws from a seed, the same on every machine.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/pacing/dice.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::play {

/// Chosen bytes that are used in place of random numbers.
class Tape {
 public:
  /// Precondition: the bytes outlive the tape.
  explicit Tape(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }
  /// Returns a number in [0, highest]. Uses as many bytes as `highest` has, or all bytes that are left.
  std::uint64_t take(std::uint64_t highest) {
    std::uint64_t number = 0;
    for (std::uint64_t reach = 0; reach < highest && !left_.empty(); reach = reach << 8U | 0xffU) {
      number = number << 8U | left_.front();
      left_ = left_.subspan(1);
    }
    return highest == ~std::uint64_t{0} ? number : number % (highest + 1);
  }

 private:
  std::span<const std::uint8_t> left_;
};

/// Seed of a story: a number, and optionally chosen bytes (the tape). Draws use up the bytes of the tape
/// first. Later draws come from a generator that is seeded with the number. Precondition: the tape outlives
/// the story.
struct Seed {
  Seed(std::uint64_t chosen = 0, Tape* bytes = nullptr) : number(chosen), tape(bytes) {}

  std::uint64_t number;
  Tape* tape;
};

/// A stream of random numbers. Used by one thread. Can serve as the program's dice.
class Chance : public policy::Dice {
 public:
  /// Each list of keys (for instance a purpose and the number of a request) has its own stream, so that an
  /// additional draw in one stream does not change the other streams.
  template <typename... Keys>
  explicit Chance(Seed seed, Keys... keys)
      : dice_(stream(seed.number, static_cast<std::uint64_t>(keys)...)), tape_(seed.tape) {}

  std::uint64_t roll(std::uint64_t highest) override {
    return tape_ == nullptr || tape_->empty() ? dice_.roll(highest) : tape_->take(highest);
  }
  /// Returns a number in [0, end); 0 if `end` is 0.
  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : roll(end - 1); }
  /// Returns a number in [lowest, highest].
  std::uint64_t between(std::uint64_t lowest, std::uint64_t highest) {
    return lowest + roll(highest - lowest);
  }
  bool one_in(std::uint64_t times) { return below(times) == 0; }
  std::uint64_t bits() { return roll(~std::uint64_t{0}); }
  char byte() { return static_cast<char>(below(256)); }
  template <typename List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }
  template <typename T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + below(choices.size()));
  }
  template <typename Enum>
  Enum any() {
    return static_cast<Enum>(below(policy::count_of<Enum>));
  }
  /// Returns any enumerator except the first, which means none.
  template <typename Enum>
  Enum any_but_first() {
    return static_cast<Enum>(between(1, policy::count_of<Enum> - 1));
  }
  policy::Duration milliseconds(std::uint64_t lowest, std::uint64_t highest) {
    return std::chrono::milliseconds(between(lowest, highest));
  }

  /// Returns a hash of both numbers.
  static std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    policy::SeededDice dice(a ^ (b * 0x9E3779B97F4A7C15U));
    return dice.roll(~std::uint64_t{0} - 1);
  }

 private:
  template <typename... Keys>
  static std::uint64_t stream(std::uint64_t number, Keys... keys) {
    ((number = mixed(number, keys)), ...);
    return number;
  }

  policy::SeededDice dice_;
  Tape* tape_;
};

}  // namespace reprise::play
