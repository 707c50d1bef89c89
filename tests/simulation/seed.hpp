// What a story is told from: a number, or, as long as they last, bytes that somebody has chosen.
#pragma once

#include <cstdint>
#include <span>

namespace reprise::simulation {

/// Chosen bytes that stand for chance, whatever it is asked for.
class Tape {
 public:
  /// Borrows the bytes.
  explicit Tape(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  bool empty() const { return left_.empty(); }
  /// In [0, highest]; as many bytes as that needs, or what is left.
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

/// The tape, where there is one, must outlive the story.
struct Seed {
  Seed(std::uint64_t chosen = 0, Tape* bytes = nullptr) : number(chosen), tape(bytes) {}

  std::uint64_t number;
  Tape* tape;
};

}  // namespace reprise::simulation
