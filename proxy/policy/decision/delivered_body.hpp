// The response body that the client is receiving: the attempt that it comes from, and its breaks and resumes.
#pragma once

#include <optional>

#include "proxy/policy/decision/decide_resume.hpp"
#include "proxy/policy/decision/ledger.hpp"

namespace reprise::policy {

/// Owned by `Exchange` from the moment at which the response head is sent to the client.
class DeliveredBody {
 public:
  /// A stalled body whose connection is still open: its attempt, and the ledger's values for that attempt
  /// before the stall.
  struct Stalled {
    unsigned attempt = 0;
    Outcome outcome;
    Verdict verdict;
    Reason reason = Reason::success;
  };

  explicit DeliveredBody(unsigned attempt) : attempt_(attempt) {}

  /// Returns the number of the attempt whose body the client is receiving.
  unsigned attempt() const { return attempt_; }
  /// Returns true if the rest of the body can be requested after the last break.
  bool continuable() const { return continuable_; }
  /// Returns the history of the resumes since the client last got a body byte. `wait` is the wait before the
  /// last attempt.
  ResumeHistory history(Duration wait) const;

  /// Records in the ledger that the body broke or stalled, as the outcome of its attempt.
  void broke(const Break&, Ledger&, Instant now);
  /// Counts a resume that is scheduled.
  void resume_scheduled() { ++in_vain_; }
  /// Records that the rest of the body comes from the attempt with this number.
  void continued_by(unsigned attempt) { attempt_ = attempt; }
  /// Switches back to the stalled body and restores the outcome of its attempt in the ledger. Returns the
  /// values that the caller must restore as well; nothing if there is no stalled body.
  std::optional<Stalled> went_on(Ledger&);

 private:
  unsigned attempt_;
  bool continuable_ = false;
  unsigned in_vain_ = 0;  ///< resumes in a row that brought no byte
  std::optional<Stalled> stalled_;
};

}  // namespace reprise::policy
