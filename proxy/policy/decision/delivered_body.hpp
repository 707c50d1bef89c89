// The response body that the client is getting: which attempt it comes from, and what breaks and resumes have
// made of it.
#pragma once

#include <optional>

#include "proxy/policy/decision/decide_resume.hpp"
#include "proxy/policy/decision/ledger.hpp"

namespace reprise::policy {

/// `Exchange` owns one from the moment at which the response head goes out.
class DeliveredBody {
 public:
  /// A body that is silent and may go on: the attempt that it comes from, and what the ledger said of that
  /// attempt before the body fell silent.
  struct Stalled {
    unsigned attempt = 0;
    Outcome outcome;
    Verdict verdict;
    Reason reason = Reason::success;
  };

  explicit DeliveredBody(unsigned attempt) : attempt_(attempt) {}

  /// Number of the attempt whose body the client is getting.
  unsigned attempt() const { return attempt_; }
  /// True if the rest can be asked for.
  bool continuable() const { return continuable_; }
  /// What was tried since the last byte. `wait`: the wait before the last attempt.
  ResumeHistory history(Duration wait) const;

  /// The body broke, or fell silent: writes that into the entry of its attempt.
  void broke(const Break&, Ledger&, Instant now);
  /// A resume is going to start.
  void resume_scheduled() { ++in_vain_; }
  /// The rest comes from that attempt.
  void continued_by(unsigned attempt) { attempt_ = attempt; }
  /// The silent body goes on: its attempt gets back the outcome that it had. Null if no body may go on;
  /// returned is what the caller has to restore besides.
  std::optional<Stalled> went_on(Ledger&);

 private:
  unsigned attempt_;
  bool continuable_ = false;
  unsigned in_vain_ = 0;  ///< resumes in a row that brought no byte
  std::optional<Stalled> stalled_;
};

}  // namespace reprise::policy
