// A sorted set of tokens from comma lists, in which a search is fast even if a list has thousands of members
// (rows J2, L13).
#pragma once

#include <string_view>
#include <vector>

namespace reprise::http {

/// Tokens compared without regard to case, as views into the text they were read from. Allocates only in
/// `add`.
class TokenSet {
 public:
  void add(std::string_view token) { tokens_.push_back(token); }
  /// Sorts the tokens. Call after the last `add` and before the first `has`.
  void sort();
  bool has(std::string_view token) const;
  bool empty() const { return tokens_.empty(); }

 private:
  std::vector<std::string_view> tokens_;
};

}  // namespace reprise::http
