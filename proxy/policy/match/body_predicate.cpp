#include "proxy/policy/match/body_predicate.hpp"

#include <algorithm>

namespace reprise::policy {
namespace {

bool matches(const BodyPredicate& predicate, const BodyView& body) {
  if (!predicate.header.empty()) return false;
  if (!predicate.event.empty() && predicate.event != body.event()) return false;
  if (!predicate.xml.empty()) return body.has_xml(predicate.xml, predicate.value);
  return predicate.json.empty() || body.has_json(predicate.json, predicate.value);
}

template <typename Condition>
const BodyPredicate* first_of(const std::vector<BodyPredicate>& predicates, Condition condition) {
  const auto found = std::find_if(predicates.begin(), predicates.end(), condition);
  return found == predicates.end() ? nullptr : &*found;
}

std::string describe(const std::vector<std::string>& patterns) {
  if (patterns.size() == 1) return patterns.front();
  std::string text = "[";
  for (const std::string& pattern : patterns) text.append(text.size() > 1 ? ", " : "").append(pattern);
  return text.append("]");
}

}  // namespace

bool concerns(const BodyPredicate& predicate, int status) {
  return !predicate.status || predicate.status->has(status);
}

const BodyPredicate* match_head(const std::vector<BodyPredicate>& predicates, int status,
                                const HeadView& head) {
  return first_of(predicates, [&](const BodyPredicate& predicate) {
    return !predicate.header.empty() && concerns(predicate, status) &&
           head.has(predicate.header, predicate.value);
  });
}

const BodyPredicate* match_body(const std::vector<BodyPredicate>& predicates, int status,
                                const BodyView& body) {
  return first_of(predicates, [&](const BodyPredicate& predicate) {
    return concerns(predicate, status) && matches(predicate, body);
  });
}

std::string describe(const BodyPredicate& predicate) {
  std::string text;
  const auto add = [&](std::string_view key, std::string_view value) {
    text.append(text.empty() ? "" : ", ").append(key).append(": ").append(value);
  };
  if (predicate.status) add("status", describe(*predicate.status));
  if (!predicate.event.empty()) add("event", predicate.event);
  if (!predicate.json.empty()) add("json", predicate.json);
  if (!predicate.xml.empty()) add("xml", predicate.xml);
  if (!predicate.header.empty()) add("header", predicate.header);
  if (predicate.value.equals) add("equals", *predicate.value.equals);
  if (!predicate.value.matches.empty()) add("matches", describe(predicate.value.matches));
  if (predicate.refused) add("refused", "true");
  return text;
}

std::string describe(const StatusRange& range) {
  std::string first = std::to_string(range.first);
  if (range.first == range.last) return first;
  if (range.first % 100 == 0 && range.last == range.first + 99) return first.substr(0, 1) + "xx";
  return first + "-" + std::to_string(range.last);
}

}  // namespace reprise::policy
