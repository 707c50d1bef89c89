#include "proxy/telemetry/history/history_entry.hpp"

#include <algorithm>
#include <cmath>

#include "proxy/telemetry/log/grpc_call.hpp"

namespace reprise::telemetry {

policy::AttemptLimit limit_of(const HistoryEntry& story) {
  if (story.attempts.empty()) return policy::AttemptLimit::attempts;
  const bool resumed = std::any_of(
      story.attempts.begin(), story.attempts.end(),
      [](const HistoryAttempt& attempt) { return attempt.verdict.reason == policy::Reason::resumed; });
  const HistoryAttempt& last = story.attempts.back();
  return policy::attempt_limit(last.number, last.outcome, resumed);
}

std::string_view meaning_of(const HistoryEntry& story) {
  return policy::meaning(story.reason, limit_of(story));
}

bool is_notable(const ExchangeRecord& record) {
  const policy::Ledger& ledger = *record.ledger;
  return ledger.size() > 1 || ledger.reason != policy::Reason::success || record.ending != Ending::complete ||
         record.status >= 500 || ledger.ambiguous || (record.grpc && is_server_error(*record.grpc));
}

}  // namespace reprise::telemetry
