// Idempotency as data: rules over headers, query parameters
// and JSON fields that call a request safe to play again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/match/request_view.hpp"

namespace reprise::policy {

/// One thing that must be in the request. An empty value in the request is no condition (clause R35).
struct Condition {
  enum class Kind : std::uint8_t { header, query, json, method };
  Kind kind = Kind::header;
  std::string name;   ///< header or query name, top-level JSON key, or method token
  std::string value;  ///< header and query only: the value it must have; empty: any

  bool operator==(const Condition&) const = default;
};

/// The name in a `method` condition that stands for every method that `by_method` calls idempotent.
inline constexpr std::string_view idempotent_method = "idempotent";

/// The word of each kind, in the order of the enumerators: the key of a condition in a configuration.
inline constexpr auto& condition_words = names_of<Condition::Kind>;

/// `idempotent:` of a route.
struct IdempotencyRule {
  enum class Kind : std::uint8_t { always, never, by_method, any, all };
  Kind kind = Kind::by_method;
  std::vector<Condition> conditions;  ///< for `any` and `all`

  bool operator==(const IdempotencyRule&) const = default;
  bool has_conditions() const { return kind == Kind::any || kind == Kind::all; }
  /// True if the method alone may decide.
  bool asks_method() const;
};

/// The word of each kind, in the order of the enumerators: `any` and `all` are keys in a configuration.
inline constexpr auto& rule_words = names_of<IdempotencyRule::Kind>;

inline std::string_view word(Condition::Kind kind) { return condition_words[static_cast<std::size_t>(kind)]; }
inline std::string_view word(IdempotencyRule::Kind kind) {
  return rule_words[static_cast<std::size_t>(kind)];
}

/// `undecided`: a JSON condition waits for the whole body.
enum class Idempotency : std::uint8_t { no, yes, undecided };

/// A top-level key of the held body: present, not null, not empty.
class JsonBody {
 public:
  virtual bool has(std::string_view key) const = 0;

 protected:
  ~JsonBody() = default;
};

/// True if the raw query has a parameter of that name with exactly `value`, or, where `value` is empty, with
/// any value that is not empty. Names and values are compared percent-encoded, as sent.
bool query_has(std::string_view query, std::string_view name, std::string_view value);

/// What a rule says of a request, and the one condition of the rule that settled it: the one that holds under
/// `any`, the one that does not under `all`, the JSON one that waits for the body of an `undecided`. Null
/// where all had a say, and for the rules without conditions. It belongs to the rule.
struct Judgement {
  Idempotency verdict = Idempotency::no;
  const Condition* because = nullptr;
};

/// What the rule says of the request. `body` is null while the body is not wholly held; a rule whose answer
/// hangs on it is then `undecided`.
Judgement judge_with_ground(const IdempotencyRule&, const RequestView&, const JsonBody* body);
inline Idempotency judge(const IdempotencyRule& rule, const RequestView& request, const JsonBody* body) {
  return judge_with_ground(rule, request, body).verdict;
}

/// `header: If-Match`, for `explain`, logs and error messages.
std::string describe(const Condition&);
std::string describe(const IdempotencyRule&);

}  // namespace reprise::policy
