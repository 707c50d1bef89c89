// A tree of path patterns by segment: a path is compared only with the patterns that share its first
// segments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/request_match.hpp"

namespace reprise::policy {

/// A node for one segment, with its subtree. Holds the numbers of patterns, not the patterns.
class PathTree {
 public:
  using Numbers = std::vector<std::size_t>;  ///< ascending, without duplicates

  /// Adds a pattern. Precondition: `number` is not below any number added before.
  void add(const PathPattern&, std::size_t number);

  /// Calls `ask` with lists of pattern numbers. The lists include every pattern that matches the path, and
  /// may include a few that do not.
  template <typename Ask>
  void visit(std::string_view path, const Ask& ask) const {
    if (!tails_.empty()) ask(tails_);
    if (path.starts_with('/')) descend(path.substr(1), ask);
  }

 private:
  struct Child;

  PathTree& child(const PathPattern::Segment&);
  const PathTree* literal(std::string_view segment) const;

  // `left` is the rest of the path; it begins with the segment to compare.
  template <typename Ask>
  void descend(std::string_view left, const Ask& ask) const {
    const std::size_t slash = left.find('/');
    const std::string_view segment = left.substr(0, slash);
    const auto go_on = [&](const PathTree& next) {
      if (slash == std::string_view::npos) {
        if (!next.ends_.empty()) ask(next.ends_);
      } else {
        if (!next.tails_.empty()) ask(next.tails_);
        next.descend(left.substr(slash + 1), ask);
      }
    };
    if (const PathTree* next = literal(segment)) go_on(*next);
    if (!any_.empty() && !segment.empty()) go_on(any_.front());
  }

  std::vector<Child> literals_;  ///< sorted by segment
  std::vector<PathTree> any_;    ///< subtree of the segment `{x}`: at most one element
  Numbers ends_;                 ///< numbers of the patterns that end at this node
  Numbers tails_;                ///< numbers of the patterns with `**` after this node
};

struct PathTree::Child {
  std::string segment;
  PathTree tree;
};

}  // namespace reprise::policy
