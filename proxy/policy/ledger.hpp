// The record of one request: every attempt with its outcome and verdict. Metrics, log, headers and status
// read only this.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "proxy/policy/hedge.hpp"

namespace reprise::policy {

struct LedgerEntry {
  Attempt attempt;
  Outcome outcome;
  Verdict verdict;
  Instant started{};
  Instant ended{};
};

/// Four attempts inline, so that an ordinary request allocates nothing; more go to the heap.
class Ledger {
 public:
  void add(const LedgerEntry&);
  void clear();
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const LedgerEntry& operator[](std::size_t i) const {
    return i < inline_entries ? inline_[i] : overflow_[i - inline_entries];
  }
  LedgerEntry& operator[](std::size_t i) {
    return i < inline_entries ? inline_[i] : overflow_[i - inline_entries];
  }
  /// True if an attempt was made because an earlier one had failed, and not only beside it.
  bool retried() const;
  const LedgerEntry& back() const { return (*this)[size_ - 1]; }
  LedgerEntry& back() { return (*this)[size_ - 1]; }

  /// Why the exchange ended. `success` until it is known.
  Reason reason = Reason::success;
  /// An earlier attempt may have taken effect, and the answer is one that a second execution would give.
  bool ambiguous = false;
  HedgeOutcome hedge = HedgeOutcome::none;
  /// Why no copy was sent, where `hedge` is `refused`.
  Reason hedge_refusal = Reason::success;

 private:
  static constexpr std::size_t inline_entries = 4;
  std::array<LedgerEntry, inline_entries> inline_{};
  std::vector<LedgerEntry> overflow_;
  std::size_t size_ = 0;
};

}  // namespace reprise::policy
