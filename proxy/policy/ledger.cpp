#include "proxy/policy/ledger.hpp"

namespace reprise::policy {

void Ledger::add(const LedgerEntry& entry) {
  if (size_ < inline_entries) {
    inline_[size_] = entry;
  } else {
    overflow_.push_back(entry);
  }
  ++size_;
}

void Ledger::clear() {
  overflow_.clear();
  size_ = 0;
  reason = Reason::success;
  ambiguous = false;
  hedge = HedgeOutcome::none;
  hedge_refusal = Reason::success;
}

bool Ledger::retried() const {
  for (std::size_t i = 0; i < size_; ++i) {
    const LedgerEntry& entry = (*this)[i];
    if (!entry.verdict.retry) continue;
    if (entry.verdict.reason != Reason::hedged) return true;
    // The first of two copies: it failed, and the other saved the day, unless it was only slower.
    const auto* failed = std::get_if<Failed>(&entry.outcome);
    if (hedge == HedgeOutcome::won && (failed == nullptr || failed->cause != Cause::cancelled)) return true;
  }
  return false;
}

}  // namespace reprise::policy
