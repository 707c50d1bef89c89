#include "proxy/server/cgroup/limit_files.hpp"

#include <charconv>

namespace reprise::server {
namespace {

// Version 1 writes "no limit" as the largest multiple of the page size below 2^63, and page sizes differ.
constexpr std::uint64_t unreachable = 1ULL << 62U;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::uint64_t> memory_in(std::string_view text) {
  const auto bytes = number_in(trimmed(text));
  return bytes && *bytes < unreachable ? bytes : std::nullopt;
}

std::optional<double> cpus_in(std::string_view text) {
  text = trimmed(text);
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  return cpus_in(text.substr(0, blank), text.substr(blank));
}

std::optional<double> cpus_in(std::string_view quota, std::string_view period) {
  const auto share = number_in(trimmed(quota));
  const auto whole = number_in(trimmed(period));
  if (!share || !whole || *share == 0 || *whole == 0) return std::nullopt;
  return static_cast<double>(*share) / static_cast<double>(*whole);
}

}  // namespace reprise::server
