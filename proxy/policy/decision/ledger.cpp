#include "proxy/policy/decision/ledger.hpp"

#include <algorithm>

namespace reprise::policy {
namespace {

double seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

}  // namespace

void Ledger::add(const LedgerEntry& entry) {
  note_outcome(entry);
  if (size_ < inline_entries) {
    inline_[size_++] = entry;
    return;
  }
  const std::size_t leaving = size_ - last_kept;
  if (size_ < first_kept + last_kept) {
    overflow_.push_back(entry);
  } else {
    if (leaving == held_) {
      overflow_.resize(held_place + 1);
      overflow_[held_place] = overflow_[place(leaving)];
      holds_middle_ = true;
    } else {
      evict(overflow_[place(leaving)]);
    }
    overflow_[place(leaving)] = entry;
  }
  ++size_;
}

void Ledger::note_outcome(const LedgerEntry& entry) {
  const auto* failed = std::get_if<Failed>(&entry.outcome);
  if (!lost_ && failed != nullptr && entry.attempt.sent == Sent::maybe && failed->cause != Cause::cancelled)
    lost_ = Lost{entry.attempt.number, *failed};
}

void Ledger::correct(unsigned number, const AttemptReport& report, const Outcome& outcome, Instant ended) {
  LedgerEntry& entry = (*this)[number - 1];
  entry.attempt.reused = report.reused;
  entry.attempt.sent = report.sent;
  entry.attempt.replayable = report.replayable;
  entry.outcome = outcome;
  entry.ended = ended;
  entry.address = report.address;
  entry.sent_bytes = report.sent_bytes;
  entry.http2 = report.http2;
  entry.queued = report.queued;
  note_outcome(entry);
}

void Ledger::hold(unsigned number) {
  assert(number > 0);
  if (holds_middle_) evict(overflow_[held_place]);
  holds_middle_ = false;
  held_ = number - 1;
}

void Ledger::evict(const LedgerEntry& entry) {
  if (evicted_.empty()) evicted_.emplace_back();
  Evicted& all = evicted_.front();
  ++all.attempts;
  all.took += seconds(std::max(entry.ended - entry.started, Duration::zero()));
  const auto label = std::find(outcome_labels.begin(), outcome_labels.end(), outcome_label(entry.outcome));
  ++all.outcomes[static_cast<std::size_t>(label - outcome_labels.begin())];
  const auto* responded = std::get_if<Responded>(&entry.outcome);
  if (responded != nullptr && responded->hints.retry_after) {
    ++all.pauses;
    all.paused += seconds(*responded->hints.retry_after);
  }
  const bool sent = entry.attempt.sent == Sent::maybe;
  if (sent && (all.first_sent == 0 || entry.attempt.number < all.first_sent))
    all.first_sent = entry.attempt.number;
  if (!entry.verdict.retry) return;
  ++all.retries[static_cast<std::size_t>(entry.verdict.reason)];
  if (entry.verdict.reason == Reason::stale_connection) return;
  ++all.waits;
  all.waited += seconds(entry.verdict.delay);
}

bool Ledger::retried() const {
  // Entries are evicted only if there were more attempts than attempt 1 and its copy.
  if (evicted() != nullptr) return true;
  for (std::size_t i = 0; i < size_; i = next(i)) {
    const LedgerEntry& entry = (*this)[i];
    if (!entry.verdict.retry) continue;
    if (entry.verdict.reason != Reason::hedged) return true;
    // The entry is that of attempt 1, which got a hedged copy. The copy counts as a retry if attempt 1 failed
    // and the copy won. It does not count if attempt 1 was only slower and was cancelled.
    const auto* failed = std::get_if<Failed>(&entry.outcome);
    if (hedge == HedgeOutcome::won && (failed == nullptr || failed->cause != Cause::cancelled)) return true;
  }
  return false;
}

}  // namespace reprise::policy
