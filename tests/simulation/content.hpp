// Content of bodies: each byte depends on the request, the version and the offset.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/simulation/purpose.hpp"

namespace reprise::simulation {

/// The bytes of one body. Bodies with different ids or versions differ at nearly every offset.
class Content {
 public:
  Content(std::uint64_t id, std::uint64_t version) : mix_(Chance::mixed(id, version)) {}

  char at(std::uint64_t place) const {
    const std::uint64_t turned = (mix_ >> (place % 48)) + place * 31 + place / 94;
    return static_cast<char>('!' + turned % 94);
  }
  /// Returns true if the body has these bytes at this offset.
  bool holds(std::uint64_t place, std::string_view bytes) const {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] != at(place + i)) return false;
    }
    return true;
  }
  std::string text(std::uint64_t first, std::uint64_t end) const {
    std::string bytes(end - first, '\0');
    char* to = bytes.data();
    for (std::uint64_t i = first; i < end; ++i) *to++ = at(i);
    return bytes;
  }

 private:
  std::uint64_t mix_;
};

}  // namespace reprise::simulation
