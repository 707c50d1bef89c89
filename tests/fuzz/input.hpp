// Reads numbers from the fuzzer's bytes, and reports a broken invariant.
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

/// Reads numbers from the front of the bytes. Returns zeros when no bytes are left. The bytes must outlive
/// this object.
class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), size_(size) {}

  bool empty() const { return size_ == 0; }
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *bytes_++;
  }
  /// Returns 0 to 2^64 - 1, low byte first.
  std::uint64_t word() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 8) number |= std::uint64_t{byte()} << shift;
    return number;
  }
  /// Returns 0 to `highest`, which must be below 2^64 - 1.
  std::uint64_t upto(std::uint64_t highest) {
    return highest < 256 ? byte() % (highest + 1) : word() % (highest + 1);
  }
  bool flip() { return (byte() & 1U) != 0; }
  template <typename Enum>
  Enum any() {
    return static_cast<Enum>(upto(policy::count_of<Enum> - 1));
  }
  /// Returns any enumerator except the first, which means "none".
  template <typename Enum>
  Enum any_but_first() {
    return static_cast<Enum>(1 + upto(policy::count_of<Enum> - 2));
  }
  template <typename List>
  const typename List::value_type& of(const List& list) {
    return list[upto(list.size() - 1)];
  }
  /// Returns the bytes not yet read.
  std::string_view rest() const { return {reinterpret_cast<const char*>(bytes_), size_}; }
  /// Returns at most `longest` letters of the alphabet.
  std::string text(std::string_view alphabet, std::size_t longest) {
    std::string letters(upto(longest), '\0');
    for (char& letter : letters) letter = alphabet[upto(alphabet.size() - 1)];
    return letters;
  }

 private:
  const std::uint8_t* bytes_;
  std::size_t size_;
};

/// A copy of exactly the given bytes, so that the sanitizer detects any read beyond the copy.
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

/// Like Exact, but reuses one buffer for all copies. The view that put() returns is valid until the next
/// put().
class Edge {
 public:
  std::string_view put(std::string_view text) {
    if (text.size() > bytes_.size()) bytes_ = std::vector<char>(text.size());
    return {std::copy_backward(text.begin(), text.end(), bytes_.data() + bytes_.size()), text.size()};
  }

 private:
  std::vector<char> bytes_;
};

/// Returns a number that depends only on the bytes. Fuzz targets whose whole input is text select additional
/// checks by this number.
inline std::uint64_t mixed(std::string_view bytes) {
  std::uint64_t number = 0xcbf29ce484222325U;
  for (const char c : bytes) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return number ^ (number >> 29U);
}

/// Aborts the fuzzer if an invariant does not hold; the fuzzer then saves the input.
inline void law(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %s\n", what);
  std::abort();
}

}  // namespace reprise::fuzz
