// Laws (invariants) for one request, judged after each event from the events and from the actions of the
// exchange.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tests/simulation/policy/coverage_marks.hpp"
#include "tests/simulation/policy/host_story.hpp"

namespace reprise::simulation {

using policy::Duration;
using policy::Instant;

/// One event of a request.
struct Happening {
  enum class Kind : std::uint8_t { arrived, interrupted, attempt_ended, hedge_due, wait_ended, body_ended };
  Kind kind = Kind::arrived;
  Instant at{};
  unsigned number = 0;  ///< number of the attempt
  play::Interruption interruption = play::Interruption::none;
  policy::AttemptReport report{};
  policy::Outcome outcome{};
  play::Breaking how = play::Breaking::no;  ///< how the response body ended early, if it did
  bool differs = false;  ///< the response is a 200 or 206, but not the rest of the download
};

/// One attempt, as it was reported to the exchange.
struct Tried {
  Instant started{};
  /// Start of this attempt. For the retry after a stale connection: start of the attempt that used the stale
  /// connection.
  Instant admitted{};
  Instant ended{};
  policy::Outcome outcome = policy::Failed{policy::Stage::await_head, policy::Cause::cancelled};
  policy::AttemptReport report{};
  bool fresh = false;
  bool resume = false;
  bool running = true;
  bool cancelled = false;
  bool paid = false;  ///< true if the attempt was charged to the budget
  /// True if the charge was refunded, because the attempt ended before it sent a byte.
  bool given_back = false;
};

/// Compares the ledger with the reported attempts. Returns the broken law; empty if they agree.
std::string_view ledger_fault(const std::vector<Tried>&, const policy::Ledger&);

class VisitLaws {
 public:
  /// Precondition: all arguments outlive the laws.
  VisitLaws(const policy::RoutePolicy&, const Visit&, Instant head_at);

  /// Judges the actions that the exchange returned for this event.
  void after(const Happening&, const policy::Actions&, const policy::Exchange&);
  /// Reports that the last response was read whole. A whole response can no longer be dropped.
  void response_kept() { whole_ = whole_ || at_hand_ != 0; }
  void response_dropped() {
    if (!whole_) at_hand_ = 0;
  }
  /// Returns the first broken law; empty if all hold.
  std::string_view broken() const { return broken_; }

  bool over() const { return over_; }
  /// Returns how the request ended for its client. Precondition: the request is over.
  Ending ending() const { return ending_; }
  /// Returns true if the last event was the end of a running attempt.
  bool heard() const { return heard_; }
  /// Returns true if the last event decided whether a hedge is sent.
  bool judged_hedge() const { return judged_hedge_; }
  /// Attempts that were cancelled after the last event.
  const std::vector<unsigned>& stopped() const { return stopped_; }
  std::size_t running() const;
  const Tried& tried(unsigned number) const { return tried_[number - 1]; }
  bool runs(unsigned number) const { return tried_[number - 1].running; }
  /// Returns the number of attempts charged to the budget and not refunded.
  std::size_t paid() const { return paid_; }
  /// Returns how many events could have caused a route in mode observe to record a retry.
  std::size_t decisions() const { return decisions_; }

 private:
  void require(bool holds, std::string_view law) {
    if (!holds && broken_.empty()) broken_ = law;
  }
  void take_end(const Happening&, const policy::Actions&);
  void take_interruption(play::Interruption);
  void take_body_end(const Happening&);
  void judge(const policy::Action&, const Happening&, const policy::Exchange&);
  void judge_start(const policy::Start&, const Happening&);
  void judge_again(const Happening&);
  void judge_stale();
  void judge_hedge(const Happening&);
  void judge_resume(const policy::Resume&, const Happening&);
  void judge_wait(const policy::Wait&, const Happening&);
  void judge_length(Duration, const Happening&);
  policy::Hints asked(const Happening&) const;
  void judge_delivery(const policy::Deliver&, const policy::Exchange&);
  void judge_cancel(const policy::Cancel&, const Happening&);
  void judge_end(const policy::Exchange&);
  void pay();

  void begin(const Happening&, bool fresh, bool resume);
  bool is_out() const { return body_of_ != 0; }
  bool is_departed() const { return finished_ || reset_ || stopping_; }
  bool is_held() const { return tried_.size() <= visit_.held_for; }
  bool may_have_effect(const Tried&) const;
  bool is_refused(const Tried&) const;
  static bool is_lost(const Tried&);
  bool keeps_lost_failure(unsigned number) const;
  bool is_ambiguous(unsigned number) const;
  const policy::Responded* response(unsigned number) const {
    return number == 0 ? nullptr : std::get_if<policy::Responded>(&tried_[number - 1].outcome);
  }

  const policy::RoutePolicy& route_;
  const Visit& visit_;
  Instant head_at_;
  std::optional<Instant> deadline_;
  std::string_view broken_;
  std::vector<Tried> tried_;
  unsigned last_ended_ = 0;
  unsigned charged_ = 0;
  unsigned stale_ = 0;
  /// Number of the attempt whose response the client gets if no attempt follows; 0: none.
  unsigned at_hand_ = 0;
  bool whole_ = false;
  unsigned body_of_ = 0;  ///< number of the attempt whose body the client receives; 0: no head was delivered
  bool continuable_ = false;
  unsigned in_vain_ = 0;
  Duration wait_{};
  bool finished_ = false, reset_ = false, stopping_ = false;
  bool heard_ = false, judged_hedge_ = false;
  std::vector<unsigned> stopped_;
  policy::HedgeOutcome hedge_ = policy::HedgeOutcome::none;
  std::size_t paid_ = 0, decisions_ = 0;
  std::size_t entries_ = 0;  ///< number of ledger entries when the request ended
  bool over_ = false;
  Ending ending_ = Ending::responded;
};

}  // namespace reprise::simulation
