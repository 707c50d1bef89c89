// The record of one request: every attempt with its outcome and verdict. Metrics, log, headers and status
// read only this.
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
  WaitRange bounds{};            ///< between what the verdict's delay was drawn; zero: it was not drawn
  UpstreamAddress address{};     ///< where it went, or the last one that was dialled
  std::uint64_t sent_bytes = 0;  ///< of its head and body that the kernel has taken
  /// Retries that the budget had left when it was decided on; infinite without one.
  float budget_left = std::numeric_limits<float>::infinity();
};

/// What is left of the attempts whose entries are gone (row L25).
struct Forgotten {
  std::uint64_t attempts = 0;
  std::array<std::uint64_t, outcome_labels.size()> outcomes{};  ///< by place in `outcome_labels`
  std::array<std::uint64_t, reason_count> retries{};            ///< by Reason, of the verdicts that say retry
  std::uint64_t waits = 0;                                      ///< retries that came after a backoff
  double waited = 0;                                            ///< seconds in all
  std::uint64_t pauses = 0;                                     ///< responses that asked for one
  double paused = 0;                                            ///< seconds in all, as asked
  double took = 0;                                              ///< seconds of all attempts
  unsigned first_sent = 0;  ///< the lowest number of an attempt of which bytes may have been sent; 0: none
};

/// An attempt of which bytes may have been sent and that got no response: whether it took effect is not
/// known.
struct Lost {
  unsigned number = 0;
  Failed failure;
};

/// Why and how an exchange ended.
struct Conclusion {
  /// `success` until it is known.
  Reason reason = Reason::success;
  /// An earlier attempt may have taken effect, and the response is one that a second execution would give.
  bool ambiguous = false;
  HedgeOutcome hedge = HedgeOutcome::none;
  /// Why no copy was sent, where `hedge` is `refused`.
  Reason hedge_refusal = Reason::success;
};

/// Four attempts inline, so that an ordinary request allocates nothing; more go to the heap. Bounded: of an
/// attempt that is neither among the first nor among the last it keeps only the count, unless the client may
/// get its response.
class Ledger : public Conclusion {
 public:
  static constexpr std::size_t first_kept = 32;
  static constexpr std::size_t last_kept = 32;

  void add(const LedgerEntry&);
  /// Writes how an attempt ended over its entry, which was added before that was known. The verdict stays.
  void correct(unsigned number, const AttemptReport&, const Outcome&, Instant ended);
  /// How many attempts there were, forgotten ones included.
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// Whether the entry at that place, below size(), is still there.
  bool keeps(std::size_t i) const {
    return i < first_kept || i + last_kept >= size_ || (holds_middle_ && i == held_);
  }
  /// The next place behind that one whose entry is kept; size() if there is none.
  std::size_t next(std::size_t i) const {
    ++i;
    if (i >= size_ || keeps(i)) return i;
    return holds_middle_ && held_ > i ? held_ : size_ - last_kept;
  }
  /// Only of places that it keeps.
  const LedgerEntry& operator[](std::size_t i) const {
    assert(i < size_ && keeps(i));
    return i < inline_entries ? inline_[i] : overflow_[place(i)];
  }
  LedgerEntry& operator[](std::size_t i) {
    assert(i < size_ && keeps(i));
    return i < inline_entries ? inline_[i] : overflow_[place(i)];
  }
  /// From now on the entry of that attempt (from 1, entered
  /// or about to be) is the one that is never forgotten.
  void hold(unsigned number);
  /// Null while every entry is kept.
  const Forgotten* forgotten() const { return forgotten_.empty() ? nullptr : forgotten_.data(); }
  /// The first attempt whose outcome is unknown; those that we stopped do not count.
  const std::optional<Lost>& lost() const { return lost_; }
  /// True if an attempt was made because an earlier one had failed, and not only beside it.
  bool retried() const;
  /// The last one; only where there is one.
  const LedgerEntry& back() const { return (*this)[size_ - 1]; }
  LedgerEntry& back() { return (*this)[size_ - 1]; }

 private:
  static constexpr std::size_t inline_entries = 4;
  static constexpr std::size_t held_place = first_kept - inline_entries + last_kept;

  /// In overflow_: the first ones, then the last ones in a ring, then the one that is held.
  std::size_t place(std::size_t i) const {
    if (i < first_kept) return i - inline_entries;
    if (i + last_kept < size_) return held_place;
    return first_kept - inline_entries + (i - first_kept) % last_kept;
  }
  void note_outcome(const LedgerEntry&);
  void forget(const LedgerEntry&);

  std::array<LedgerEntry, inline_entries> inline_{};
  std::vector<LedgerEntry> overflow_;
  std::vector<Forgotten> forgotten_;  ///< one, or none
  std::size_t size_ = 0;
  std::optional<Lost> lost_;
  std::size_t held_ = 0;
  bool holds_middle_ = false;  ///< the held entry is neither among the first nor among the last
};

}  // namespace reprise::policy
