// Which of many matches a request meets first, without asking each: they are looked up by host, then by the
// segments of the path.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "proxy/policy/match/path_tree.hpp"
#include "proxy/policy/match/request_match.hpp"

namespace reprise::policy {

/// Numbers matches from 0 in the order in which they are added; not changed after that, so that threads share
/// it. A lookup costs with the labels of the host and the segments of the path, and with matches of the same
/// host and path: those are asked one by one.
class MatchIndex {
 public:
  void add(const Match&);

  /// The least number whose match the request meets, or how many were added. `match_of` gives the match that
  /// was added under a number.
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
  /// As hosts are compared.
  struct IgnoringCase {
    using is_transparent = void;
    std::size_t operator()(std::string_view) const;
    bool operator()(std::string_view, std::string_view) const;
  };
  using Hosts = std::unordered_map<std::string, PathTree, IgnoringCase, IgnoringCase>;

  void add_under(const HostPattern&, const PathPattern&);

  Hosts names_;     ///< by the whole name
  Hosts suffixes_;  ///< by what stands behind the `*`
  PathTree any_host_;
  std::size_t size_ = 0;
};

}  // namespace reprise::policy
