#include "proxy/policy/body_predicate.hpp"

#include <algorithm>

namespace reprise::policy {

bool matches(const BodyPredicate& predicate, const BodyView& body) {
  if (!predicate.event.empty() && predicate.event != body.event()) return false;
  return predicate.json.empty() || body.has(predicate.json, predicate.equals);
}

bool matches(const std::vector<BodyPredicate>& predicates, const BodyView& body) {
  return std::any_of(predicates.begin(), predicates.end(),
                     [&](const BodyPredicate& predicate) { return matches(predicate, body); });
}

std::string describe(const BodyPredicate& predicate) {
  std::string text;
  if (!predicate.event.empty()) text.append("event: ").append(predicate.event);
  if (predicate.json.empty()) return text;
  text.append(text.empty() ? "" : ", ").append("json: ").append(predicate.json);
  if (predicate.equals) text.append(", equals: ").append(*predicate.equals);
  return text;
}

}  // namespace reprise::policy
