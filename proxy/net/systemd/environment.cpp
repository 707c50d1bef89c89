#include "proxy/net/systemd/environment.hpp"

#include <charconv>

namespace reprise::net {

std::optional<std::uint64_t> number_in(const Environment& environment, std::string_view name) {
  const std::optional<std::string> text = environment(name);
  if (!text) return std::nullopt;
  std::uint64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

}  // namespace reprise::net
