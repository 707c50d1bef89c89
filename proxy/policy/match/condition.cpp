#include "proxy/policy/match/condition.hpp"

#include <algorithm>

#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/match/methods.hpp"
#include "proxy/policy/match/query.hpp"

namespace reprise::policy {
namespace {

Idempotency from(bool yes) { return yes ? Idempotency::yes : Idempotency::no; }

// Returns true if the method alone makes the request idempotent. Returns false if the request switches to
// another protocol. For example, `kubectl exec` does so with a GET (row N15).
bool is_idempotent_by_method(const RequestView& request) {
  return is_idempotent_method(request.method) && !request.changes_protocol;
}

Idempotency holds(const Condition& condition, const RequestView& request, const JsonBody* body) {
  switch (condition.kind) {
    case Condition::Kind::header:
      return from(request.fields != nullptr && request.fields->has(condition.name, condition.value));
    case Condition::Kind::query: return from(query_has(request.query, condition.name, condition.value));
    case Condition::Kind::method:
      return from(condition.name == idempotent_method ? is_idempotent_by_method(request)
                                                      : request.method == condition.name);
    case Condition::Kind::json: break;
  }
  return body == nullptr ? Idempotency::undecided : from(body->has(condition.name));
}

// Combines the conditions. `settled` is the verdict that ends the search at once: yes for `any`, no for
// `all`.
Judgement combine(const IdempotencyRule& rule, const RequestView& request, const JsonBody* body,
                  Idempotency settled, Idempotency otherwise) {
  // An empty list makes no request idempotent, although `all` of an empty list would hold.
  if (rule.conditions.empty()) return {Idempotency::no, nullptr};
  const Condition* open = nullptr;
  for (const Condition& condition : rule.conditions) {
    const Idempotency judged = holds(condition, request, body);
    if (judged == settled) return {settled, &condition};
    if (judged == Idempotency::undecided && open == nullptr) open = &condition;
  }
  return open != nullptr ? Judgement{Idempotency::undecided, open} : Judgement{otherwise, nullptr};
}

}  // namespace

bool IdempotencyRule::asks_method() const {
  return kind == Kind::by_method ||
         std::any_of(conditions.begin(), conditions.end(), [](const Condition& condition) {
           return condition.kind == Condition::Kind::method && condition.name == idempotent_method;
         });
}

bool query_has(std::string_view query, std::string_view name, std::string_view value) {
  return any_parameter(query, [&](const Parameter& given) {
    return given.name == name &&
           (value.empty() ? !given.value.empty() : given.has_value && given.value == value);
  });
}

Judgement judge_with_condition(const IdempotencyRule& rule, const RequestView& request,
                               const JsonBody* body) {
  switch (rule.kind) {
    case IdempotencyRule::Kind::always: return {Idempotency::yes, nullptr};
    case IdempotencyRule::Kind::never: return {Idempotency::no, nullptr};
    case IdempotencyRule::Kind::by_method: return {from(is_idempotent_by_method(request)), nullptr};
    case IdempotencyRule::Kind::any: return combine(rule, request, body, Idempotency::yes, Idempotency::no);
    case IdempotencyRule::Kind::all: break;
  }
  return combine(rule, request, body, Idempotency::no, Idempotency::yes);
}

std::string describe(const Condition& condition) {
  std::string text(word(condition.kind));
  text.append(": ").append(condition.name);
  if (!condition.value.empty()) text.append("=").append(condition.value);
  return text;
}

std::string describe(const IdempotencyRule& rule) {
  std::string text(word(rule.kind));
  if (!rule.has_conditions()) return text;
  text.append(" of [");
  for (std::size_t i = 0; i < rule.conditions.size(); ++i) {
    if (i > 0) text.append(", ");
    text.append(describe(rule.conditions[i]));
  }
  return text.append("]");
}

}  // namespace reprise::policy
