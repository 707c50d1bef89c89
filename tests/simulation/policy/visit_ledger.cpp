#include "tests/simulation/policy/visit_laws.hpp"

namespace reprise::simulation {
namespace {

bool same(const policy::Outcome& one, const policy::Outcome& other) {
  const auto* responded = std::get_if<policy::Responded>(&one);
  const auto* also = std::get_if<policy::Responded>(&other);
  if (responded != nullptr || also != nullptr) {
    return responded != nullptr && also != nullptr && responded->status == also->status;
  }
  const auto& failed = std::get<policy::Failed>(one);
  const auto& beside = std::get<policy::Failed>(other);
  return failed.stage == beside.stage && failed.cause == beside.cause;
}

bool same(const policy::LedgerEntry& entry, const Tried& told) {
  if (entry.started != told.started || entry.ended != told.ended) return false;
  if (told.cancelled) return entry.attempt.sent == policy::Sent::maybe;
  return entry.attempt.sent == told.report.sent && entry.attempt.reused == told.report.reused;
}

}  // namespace

std::string_view ledger_fault(const std::vector<Tried>& tried, const policy::Ledger& ledger) {
  if (ledger.size() != tried.size()) return "the ledger has every attempt";
  const policy::Evicted* evicted = ledger.evicted();
  std::size_t entries = evicted == nullptr ? 0 : evicted->attempts;
  for (std::size_t i = 0; i < tried.size(); i = ledger.next(i)) {
    ++entries;
    const policy::LedgerEntry& entry = ledger[i];
    if (entry.attempt.number != i + 1) return "the ledger numbers attempts in turn";
    if (!same(entry.outcome, tried[i].outcome)) return "the ledger says what came of each attempt";
    if (!same(entry, tried[i])) return "the ledger says when and how each attempt went";
    const policy::Verdict& verdict = entry.verdict;
    if (verdict.retry == (i + 1 == tried.size())) return "every attempt but the last was followed by another";
    if (verdict.retry != is_retry(verdict.reason)) return "the reason fits the verdict";
  }
  return entries == tried.size() ? std::string_view() : "what the ledger forgets it counts";
}

}  // namespace reprise::simulation
