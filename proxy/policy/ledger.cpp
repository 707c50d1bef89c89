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
}

}  // namespace reprise::policy
