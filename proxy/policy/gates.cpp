#include "proxy/policy/gates.hpp"

namespace reprise::policy {

bool refuses_nested_client(const Facts& facts, const RoutePolicy& policy) {
  return facts.nested && policy.retry.nested == Nested::refuse;
}

bool refuses_retried_response(const Hints& hints, const RoutePolicy& policy) {
  return hints.from_reprise && policy.retry.inner == Nested::refuse;
}

bool is_signed_at(const Facts& facts, Instant at) { return !facts.signed_until || at <= *facts.signed_until; }

bool is_in_time(std::optional<Instant> deadline, Instant at) { return !deadline || at <= *deadline; }

bool are_attempts_spent(unsigned made, std::optional<unsigned> most) { return most && made >= *most; }

bool is_budget_empty(double left) { return left < 1; }

}  // namespace reprise::policy
