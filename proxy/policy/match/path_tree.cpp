#include "proxy/policy/match/path_tree.hpp"

namespace reprise::policy {

void PathTree::add(const PathPattern& pattern, std::size_t number) {
  PathTree* place = this;
  for (const PathPattern::Segment& segment : pattern.segments()) place = &place->child(segment);
  Numbers& numbers = pattern.has_rest() ? place->tails_ : place->ends_;
  // Several hosts of one match may share a tree, so the number of the match may already be in the list.
  if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
}

PathTree& PathTree::child(const PathPattern::Segment& segment) {
  if (segment.any) {
    if (any_.empty()) any_.emplace_back();
    return any_.front();
  }
  const auto place =
      std::lower_bound(literals_.begin(), literals_.end(), segment.literal,
                       [](const Child& child, const std::string& wanted) { return child.segment < wanted; });
  if (place != literals_.end() && place->segment == segment.literal) return place->tree;
  return literals_.insert(place, Child{segment.literal, {}})->tree;
}

const PathTree* PathTree::literal(std::string_view segment) const {
  const auto place =
      std::lower_bound(literals_.begin(), literals_.end(), segment,
                       [](const Child& child, std::string_view wanted) { return child.segment < wanted; });
  return place != literals_.end() && place->segment == segment ? &place->tree : nullptr;
}

}  // namespace reprise::policy
