#include "proxy/server/process/pseudonym.hpp"

#include <random>
#include <string_view>

namespace reprise::server {

std::uint64_t random_number() {
  std::random_device entropy;
  return (std::uint64_t{entropy()} << 32U) | entropy();
}

std::string make_pseudonym() {
  constexpr std::string_view letters = "abcdefghijkmnpqrstuvwxyz23456789";
  std::string name = "reprise-";
  std::uint64_t number = random_number();
  for (int i = 0; i < 6; ++i, number /= letters.size()) name.push_back(letters[number % letters.size()]);
  return name;
}

}  // namespace reprise::server
