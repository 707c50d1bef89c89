#include "proxy/http/message/token_set.hpp"

#include <algorithm>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

bool is_before(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](char x, char y) { return ascii::lower(x) < ascii::lower(y); });
}

}  // namespace

void TokenSet::sort() { std::sort(tokens_.begin(), tokens_.end(), is_before); }

bool TokenSet::has(std::string_view token) const {
  return std::binary_search(tokens_.begin(), tokens_.end(), token, is_before);
}

}  // namespace reprise::http
