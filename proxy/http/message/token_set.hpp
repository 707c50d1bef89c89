// Members of comma lists, kept sorted: thousands of them cost little more than being read (rows J2, L13).
#pragma once

#include <string_view>
#include <vector>

namespace reprise::http {

/// Tokens without regard to case. Views into what they were read from. Allocates where something is added.
class TokenSet {
 public:
  void add(std::string_view token) { tokens_.push_back(token); }
  /// Between the last `add` and the first `has`.
  void sort();
  bool has(std::string_view token) const;
  bool empty() const { return tokens_.empty(); }

 private:
  std::vector<std::string_view> tokens_;
};

}  // namespace reprise::http
