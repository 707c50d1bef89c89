#include "proxy/policy/match/text_rule.hpp"

#include <algorithm>

namespace reprise::policy {
namespace {

// Returns true if the text matches the pattern. Searches each piece between two stars at its earliest
// position: if the pieces fit anywhere, they fit there.
bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return text == pattern;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  for (pattern.remove_prefix(star + 1); (star = pattern.find('*')) != std::string_view::npos;
       pattern.remove_prefix(star + 1)) {
    const std::size_t place = text.find(pattern.substr(0, star));
    if (place == std::string_view::npos) return false;
    text.remove_prefix(place + star);
  }
  return text.ends_with(pattern);
}

}  // namespace

bool TextRule::holds(std::string_view text) const {
  if (equals) return text == *equals;
  if (matches.empty()) return !text.empty();
  return std::any_of(matches.begin(), matches.end(),
                     [&](const std::string& pattern) { return is_like(text, pattern); });
}

}  // namespace reprise::policy
