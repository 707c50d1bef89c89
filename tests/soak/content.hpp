// What stands at each byte of each body: a function of the request's number and the offset, so that every
// byte can be checked by both ends and nobody stores a body.
#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::soak {

/// A generator of chance that is a value: the same key gives the same draws, on every machine (splitmix64).
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t number, std::uint64_t purpose);
  std::uint64_t next();
  /// From 0 to before `end`; 0 where `end` is 0.
  std::uint64_t below(std::uint64_t end) { return end == 0 ? 0 : next() % end; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

/// The content of `number` from `offset` on: at most `most` bytes, and at least one of them if `most` is not
/// 0.
std::string_view content(std::uint64_t number, std::uint64_t offset, std::uint64_t most);

/// True if `piece` is what stands there.
bool is_content(std::uint64_t number, std::uint64_t offset, std::string_view piece);

}  // namespace reprise::soak
