#include "proxy/policy/decision/attempt_limit.hpp"

namespace reprise::policy {

AttemptLimit attempt_limit(std::size_t attempts, const Outcome& last, bool resumed) {
  if (resumed) return AttemptLimit::resumes;
  const auto* failed = std::get_if<Failed>(&last);
  const bool no_name = failed != nullptr && failed->never_existed;
  return no_name && attempts >= most_look_ups ? AttemptLimit::look_ups : AttemptLimit::attempts;
}

std::string_view meaning(Reason reason, AttemptLimit limit) {
  if (reason != Reason::attempts_spent) return meaning(reason);
  switch (limit) {
    case AttemptLimit::look_ups: return "the name does not exist, and is looked up at most three times";
    case AttemptLimit::resumes: return "resume.max_attempts is reached";
    case AttemptLimit::attempts: break;
  }
  return "the route's max_attempts is reached";
}

std::string_view meaning_of_end(const Ledger& ledger) {
  if (ledger.empty()) return meaning(ledger.reason);
  bool resumed = false;
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i))
    resumed = resumed || ledger[i].verdict.reason == Reason::resumed;
  return meaning(ledger.reason, attempt_limit(ledger.size(), ledger.back().outcome, resumed));
}

}  // namespace reprise::policy
