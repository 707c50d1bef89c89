// Idempotency rules: conditions on methods, headers, query parameters and JSON fields under which a request
// is safe to repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/match/request_view.hpp"

namespace reprise::policy {

/// A condition that a request must meet. An empty value in the request does not meet the condition (clause
/// R35).
struct Condition {
  enum class Kind : std::uint8_t { header, query, json, method };
  Kind kind = Kind::header;
  std::string name;   ///< name of the header or query parameter, top-level JSON key, or method token
  std::string value;  ///< for header and query only: the required value; empty for any value

  bool operator==(const Condition&) const = default;
};

/// A `method` condition with this name holds for every method that the rule `by_method` treats as idempotent.
inline constexpr std::string_view idempotent_method = "idempotent";

/// The configuration key of each kind of condition, in the order of the enumerators.
inline constexpr auto& condition_words = names_of<Condition::Kind>;

/// The `idempotent` key of a route.
struct IdempotencyRule {
  enum class Kind : std::uint8_t { always, never, by_method, any, all };
  Kind kind = Kind::by_method;
  std::vector<Condition> conditions;  ///< used only by the kinds `any` and `all`

  bool operator==(const IdempotencyRule&) const = default;
  bool has_conditions() const { return kind == Kind::any || kind == Kind::all; }
  /// Returns true if the method alone can make a request idempotent under this rule.
  bool asks_method() const;
};

/// The word of each kind of rule, in the order of the enumerators. `any` and `all` are keys in a
/// configuration.
inline constexpr auto& rule_words = names_of<IdempotencyRule::Kind>;

inline std::string_view word(Condition::Kind kind) { return condition_words[static_cast<std::size_t>(kind)]; }
inline std::string_view word(IdempotencyRule::Kind kind) {
  return rule_words[static_cast<std::size_t>(kind)];
}

/// `undecided` means that a JSON condition needs the whole body.
enum class Idempotency : std::uint8_t { no, yes, undecided };

/// The top-level keys of a held JSON body. `has` returns true if the key is present, not null and not empty.
class JsonBody {
 public:
  virtual bool has(std::string_view key) const = 0;

 protected:
  ~JsonBody() = default;
};

/// Returns true if the raw query has a parameter of that name with exactly `value`. If `value` is empty, any
/// non-empty value is enough. Names and values are compared percent-encoded, as sent.
bool query_has(std::string_view query, std::string_view name, std::string_view value);

/// The verdict of a rule on a request, and the condition that settled it:
/// - under `any`, the condition that holds;
/// - under `all`, the condition that does not hold;
/// - for `undecided`, the JSON condition that needs the body.
/// `because` points to that condition in the rule. It is null if no single condition settled the verdict, or
/// if the rule has no conditions.
struct Judgement {
  Idempotency verdict = Idempotency::no;
  const Condition* because = nullptr;
};

/// Applies the rule to the request. `body` is null if the body is not wholly held; the verdict is then
/// `undecided` if it depends on the body.
Judgement judge_with_condition(const IdempotencyRule&, const RequestView&, const JsonBody* body);
inline Idempotency judge(const IdempotencyRule& rule, const RequestView& request, const JsonBody* body) {
  return judge_with_condition(rule, request, body).verdict;
}

/// Returns the condition as text for `explain`, logs and error messages: `header: If-Match`.
std::string describe(const Condition&);
std::string describe(const IdempotencyRule&);

}  // namespace reprise::policy
