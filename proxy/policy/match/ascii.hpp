// ASCII letter case without locale, as HTTP names, methods and hosts are compared.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace reprise::policy {

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return x == y || to_lower(x) == to_lower(y);
         });
}

/// Returns the host name without a final dot. The dot marks the name as absolute for the resolver; with and
/// without the dot, the name means the same host.
constexpr std::string_view without_last_dot(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}
/// Returns the host as a URL names it: an IPv6 address in brackets (RFC 3986 3.2.2). `host` may have them.
inline std::string host_text(std::string_view host) {
  const bool is_bare = host.find(':') != std::string_view::npos && !host.starts_with('[');
  return is_bare ? std::string("[").append(host).append("]") : std::string(host);
}
constexpr bool is_same_host(std::string_view a, std::string_view b) {
  return equals_ignoring_case(without_last_dot(a), without_last_dot(b));
}

inline std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), to_lower);
  return result;
}

}  // namespace reprise::policy
