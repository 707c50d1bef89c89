// The record of one request: every attempt with its outcome and verdict. Metrics, log, response headers and
// status page read only the ledger.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "proxy/policy/decision/attempt_report.hpp"
#include "proxy/policy/decision/hedge.hpp"
#include "proxy/policy/pacing/backoff.hpp"

namespace reprise::policy {

struct LedgerEntry {
  Attempt attempt;
  Outcome outcome;
  Verdict verdict;
  Instant started{};
  Instant ended{};
  /// Range from which the verdict's delay was drawn; zero if the delay was not drawn.
  WaitRange bounds{};
  UpstreamAddress address{};     ///< address of the upstream, or the last address that was dialled
  std::uint64_t sent_bytes = 0;  ///< bytes of head and body that the kernel has accepted
  /// Retries left in the budget at the verdict; infinite if there is no budget.
  float budget_left = std::numeric_limits<float>::infinity();
  bool http2 = false;  ///< the attempt used HTTP/2
  Duration queued{};   ///< how long the attempt waited for an HTTP/2 stream
};

/// Totals of the attempts whose entries were evicted (row L25).
struct Evicted {
  std::uint64_t attempts = 0;
  /// Attempts by outcome, in the order of `outcome_labels`.
  std::array<std::uint64_t, outcome_labels.size()> outcomes{};
  std::array<std::uint64_t, reason_count> retries{};  ///< number of retry verdicts for each Reason
  std::uint64_t waits = 0;                            ///< retries that came after a backoff
  double waited = 0;                                  ///< total length of the backoffs, in seconds
  std::uint64_t pauses = 0;                           ///< responses that asked for a pause
  double paused = 0;                                  ///< total length of the requested pauses, in seconds
  double took = 0;                                    ///< total duration of the attempts, in seconds
  unsigned first_sent = 0;  ///< number of the first attempt that may have sent bytes; 0 if no attempt has
};

/// An attempt that may have sent bytes and got no response. Whether it took effect is unknown.
struct Lost {
  unsigned number = 0;
  Failed failure;
};

/// Why and how an exchange ended.
struct Conclusion {
  /// `success` until the exchange ends.
  Reason reason = Reason::success;
  /// An earlier attempt may have taken effect, so the retry may have caused this response.
  bool ambiguous = false;
  HedgeOutcome hedge = HedgeOutcome::none;
  /// Why no copy was sent, if `hedge` is `refused`.
  Reason hedge_refusal = Reason::success;
};

/// Holds four entries inline, so that an ordinary request needs no allocation; further entries go to the
/// heap. The size is bounded: the first `first_kept` and the last `last_kept` entries are kept, and all
/// others are evicted and only counted. The entry that `hold` names is not evicted, because the client may
/// get its response.
class Ledger : public Conclusion {
 public:
  static constexpr std::size_t first_kept = 32;
  static constexpr std::size_t last_kept = 32;

  void add(const LedgerEntry&);
  /// Overwrites the outcome in an entry that was added before its attempt ended. The verdict stays.
  void correct(unsigned number, const AttemptReport&, const Outcome&, Instant ended);
  /// Returns the number of attempts, including evicted ones.
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Returns true if the entry at that index was not evicted. Precondition: i < size().
  bool keeps(std::size_t i) const {
    return i < first_kept || i + last_kept >= size_ || (holds_middle_ && i == held_);
  }
  /// Returns the next index after `i` whose entry was not evicted; size() if there is none.
  std::size_t next(std::size_t i) const {
    ++i;
    if (i >= size_ || keeps(i)) return i;
    return holds_middle_ && held_ > i ? held_ : size_ - last_kept;
  }
  /// Precondition: the entry was not evicted.
  const LedgerEntry& operator[](std::size_t i) const {
    assert(i < size_ && keeps(i));
    return i < inline_entries ? inline_[i] : overflow_[place(i)];
  }
  LedgerEntry& operator[](std::size_t i) {
    assert(i < size_ && keeps(i));
    return i < inline_entries ? inline_[i] : overflow_[place(i)];
  }
  /// Exempts the entry of that attempt from eviction. The previously held entry loses this exemption.
  /// `number` counts from 1; the entry may be added later.
  void hold(unsigned number);
  /// Returns the totals of the evicted entries. Null if no entry was evicted.
  const Evicted* evicted() const { return evicted_.empty() ? nullptr : evicted_.data(); }
  /// Returns the first attempt whose outcome is unknown. Attempts that the proxy cancelled do not count.
  const std::optional<Lost>& lost() const { return lost_; }
  /// Returns true if an attempt was made because an earlier one had failed. A hedged copy does not count
  /// unless attempt 1 failed and the copy won.
  bool retried() const;
  /// Returns the last entry. Precondition: not empty().
  const LedgerEntry& back() const { return (*this)[size_ - 1]; }
  LedgerEntry& back() { return (*this)[size_ - 1]; }

 private:
  static constexpr std::size_t inline_entries = 4;
  static constexpr std::size_t held_place = first_kept - inline_entries + last_kept;

  /// Returns the index of entry `i` in overflow_, which holds the first entries, then the last entries as a
  /// ring, then the held entry.
  std::size_t place(std::size_t i) const {
    if (i < first_kept) return i - inline_entries;
    if (i + last_kept < size_) return held_place;
    return first_kept - inline_entries + (i - first_kept) % last_kept;
  }
  void note_outcome(const LedgerEntry&);
  void evict(const LedgerEntry&);

  std::array<LedgerEntry, inline_entries> inline_{};
  std::vector<LedgerEntry> overflow_;
  std::vector<Evicted> evicted_;  ///< one element if an entry was evicted, otherwise empty
  std::size_t size_ = 0;
  std::optional<Lost> lost_;
  std::size_t held_ = 0;
  bool holds_middle_ = false;  ///< the held entry is between the first and the last entries
};

}  // namespace reprise::policy
