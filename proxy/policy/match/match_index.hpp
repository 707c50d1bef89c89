// Finds the first of many matches that a request meets, by host and then by path segment, without trying each
// match.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/policy/match/path_tree.hpp"
#include "proxy/policy/match/request_match.hpp"

namespace reprise::policy {

/// Numbers the matches from 0 in the order in which they are added. The index does not change after the last
/// match is added, so threads can share it. The cost of a lookup grows with the labels of the host, the
/// segments of the path, and the number of matches with the same host and path, which are tried one by one.
class MatchIndex {
 public:
  void add(const Match&);

  /// Returns the lowest index of a match that the request meets, or the count of all matches if the request
  /// meets none. `match_of` returns the match with a given index.
  template <typename MatchOf>
  std::size_t find(const RequestView& request, const MatchOf& match_of) const {
    std::size_t first = size_;
    const auto ask = [&](const PathTree::Numbers& numbers) {
      for (const std::size_t number : numbers) {
        if (number >= first) return;
        if (match_of(number).matches(request)) first = number;
      }
    };
    any_host_.visit(request.path, ask);
    if (names_.empty() && suffixes_.empty()) return first;
    std::string_view host = request.host;
    if (host.ends_with('.')) host.remove_suffix(1);
    if (const auto found = names_.find(host); found != names_.end()) found->second.visit(request.path, ask);
    if (suffixes_.empty()) return first;
    for (std::size_t dot = host.find('.', 1); dot < host.size(); dot = host.find('.', dot + 1)) {
      const auto found = suffixes_.find(host.substr(dot));
      if (found != suffixes_.end()) found->second.visit(request.path, ask);
    }
    return first;
  }

 private:
  /// Hash and equality that ignore letter case, as hosts are compared.
  struct IgnoringCase {
    using is_transparent = void;
    std::size_t operator()(std::string_view) const;
    bool operator()(std::string_view, std::string_view) const;
  };
  using Hosts = std::unordered_map<std::string, PathTree, IgnoringCase, IgnoringCase>;

  void add_under(const HostPattern&, const PathPattern&);

  Hosts names_;     ///< keyed by the whole host name
  Hosts suffixes_;  ///< keyed by the part of the host pattern after the `*`
  PathTree any_host_;
  std::size_t size_ = 0;
};

}  // namespace reprise::policy
