// A fuzzer's bytes, taken one number at a time, and how a law that does not hold is told.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::fuzz {

/// Takes numbers from the front; when nothing is left, zeros. Borrows the bytes.
class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), size_(size) {}

  bool empty() const { return size_ == 0; }
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *bytes_++;
  }
  /// 0 to 2^64 - 1, low byte first.
  std::uint64_t word() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) number |= std::uint64_t{byte()} << shift;
    return number;
  }
  /// 0 to `highest`, which must be below 2^64 - 1.
  std::uint64_t upto(std::uint64_t highest) {
    return highest < 256 ? byte() % (highest + 1) : word() % (highest + 1);
  }
  bool flip() { return (byte() & 1U) != 0; }
  template <typename Enum>
  Enum any() {
    return static_cast<Enum>(upto(policy::count_of<Enum> - 1));
  }
  /// Any but the first, which stands for nothing.
  template <typename Enum>
  Enum any_but_first() {
    return static_cast<Enum>(1 + upto(policy::count_of<Enum> - 2));
  }
  template <typename List>
  const typename List::value_type& of(const List& list) {
    return list[upto(list.size() - 1)];
  }
  /// All that was not taken.
  std::string_view rest() const { return {reinterpret_cast<const char*>(bytes_), size_}; }
  /// Up to `longest` letters of an alphabet.
  std::string text(std::string_view alphabet, std::size_t longest) {
    std::string letters(upto(longest), '\0');
    for (char& letter : letters) letter = alphabet[upto(alphabet.size() - 1)];
    return letters;
  }

 private:
  const std::uint8_t* bytes_;
  std::size_t size_;
};

/// A copy of exactly these bytes, so that the sanitizer sees any reading beyond them.
class Exact {
 public:
  explicit Exact(std::string_view text) : bytes_(new char[text.size()]), size_(text.size()) {
    std::copy(text.begin(), text.end(), bytes_.get());
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  std::size_t size_;
};

/// The same for pieces fed one after the other, without an
/// allocation for each: the view lasts until the next call.
class Edge {
 public:
  std::string_view put(std::string_view text) {
    if (text.size() > bytes_.size()) bytes_ = std::vector<char>(text.size());
    return {std::copy_backward(text.begin(), text.end(), bytes_.data() + bytes_.size()), text.size()};
  }

 private:
  std::vector<char> bytes_;
};

/// A number that hangs on the bytes alone: it chooses what
/// else is tried with an input that must stay plain text.
inline std::uint64_t mixed(std::string_view bytes) {
  std::uint64_t number = 0xcbf29ce484222325U;
  for (const char c : bytes) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return number ^ (number >> 29U);
}

/// Ends the fuzzer, which then keeps the input.
inline void law(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

}  // namespace reprise::fuzz
