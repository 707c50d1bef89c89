// Path patterns by their segments, so that a path is held against those alone that begin as it does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/request_match.hpp"

namespace reprise::policy {

/// One segment's place, and all that follow it. Holds numbers, not patterns.
class PathTree {
 public:
  using Numbers = std::vector<std::size_t>;  ///< ascending, each once

  /// Numbers of one tree never descend.
  void add(const PathPattern&, std::size_t number);

  /// Gives `ask` lists of numbers among which is every one whose pattern matches the path, and few others.
  template <typename Ask>
  void visit(std::string_view path, const Ask& ask) const {
    if (!rests_.empty()) ask(rests_);
    if (path.starts_with('/')) descend(path.substr(1), ask);
  }

 private:
  struct Child;

  PathTree& child(const PathPattern::Segment&);
  const PathTree* literal(std::string_view segment) const;

  // `left`: what stands behind the slash before this place's segment.
  template <typename Ask>
  void descend(std::string_view left, const Ask& ask) const {
    const std::size_t slash = left.find('/');
    const std::string_view segment = left.substr(0, slash);
    const auto go_on = [&](const PathTree& next) {
      if (slash == std::string_view::npos) {
        if (!next.ends_.empty()) ask(next.ends_);
      } else {
        if (!next.rests_.empty()) ask(next.rests_);
        next.descend(left.substr(slash + 1), ask);
      }
    };
    if (const PathTree* next = literal(segment)) go_on(*next);
    if (!any_.empty() && !segment.empty()) go_on(any_.front());
  }

  std::vector<Child> literals_;  ///< ascending
  std::vector<PathTree> any_;    ///< behind `{x}`: one, or none
  Numbers ends_;                 ///< whose last segment was the one before
  Numbers rests_;                ///< whose `**` stands here
};

struct PathTree::Child {
  std::string segment;
  PathTree tree;
};

}  // namespace reprise::policy
