// The loop of one request as a pure state machine: events in, actions out. Sockets, tests and the simulator
// obey it alike.
#pragma once

#include <optional>

#include "proxy/policy/decision/actions.hpp"
#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/delivered_body.hpp"
#include "proxy/policy/decision/hedge_race.hpp"
#include "proxy/policy/decision/host_account.hpp"
#include "proxy/policy/decision/response_at_hand.hpp"

namespace reprise::policy {

/// One per request. Single-threaded; what it shares with others of its host is thread-safe. An event that
/// does not fit the state (a timer that fires after the wait was ended, a report of a cancelled attempt) asks
/// for nothing and changes nothing.
///
/// Parts of it are classes of their own: the race of attempt 1 and its copy (`HedgeRace`), the account with
/// the host (`HostAccount`), the response that is kept while waiting (`ResponseAtHand`), and the body that
/// the client is getting (`DeliveredBody`).
///
///   state       event                      asks for (-: nothing; | : or)
///   idle        take_up                    -
///               begin                      Start | Wait | Fail
///   attempting  answered, failed           Wait | Start | [Cancel] Deliver | Fail; - while a copy runs on
///               hedge_due                  Start (the copy) | -
///   waiting     response_kept, _dropped    -
///               waited                     Start | Resume | Wait | Deliver | Fail | Cut
///               client_finished, shutdown  Deliver | Fail | Cut; client_finished before attempt 1: -
///   delivering  body_broke                 Wait | Cut
///               delivered                  -, and it is over
///   waiting, resuming, delivering
///               body_went_on               Continue, of the body that had stalled
///   resuming    continued                  Continue
///               answered, failed           Wait | Cut
///               uncounted                  Wait | Cut
///               differed                   Cut
///   not over    client_reset               [Cancel [Cancel]] Leave
///   any other   client_finished, shutdown  -, and it is remembered
///
/// The last action names the next state: Start attempting, Wait waiting, Deliver and Continue delivering,
/// Resume resuming; Cut, Fail and Leave over.
class Exchange {
 public:
  /// `host`, `policy` and `latency` must outlive the exchange. The deadline runs from `head_at`. `latency` is
  /// that of the route; null if the route hedges after a fixed time or not at all.
  Exchange(const RoutePolicy& policy, const Facts& facts, HostShare host, Instant head_at,
           ObservedLatency* latency = nullptr);

  /// Accounts for an attempt of this request that was made earlier and was to be retried; the exchange
  /// continues after it. The budget is fed and charged at the attempt's end, as if it had been made here.
  /// Precondition: before `begin`, and in the order in which the attempts were made.
  void take_up(const LedgerEntry&);
  /// Starts attempt 1, or waits for the end of a pause that the host has asked for (spread by up to the
  /// route's first wait), or fails without an attempt because of the pause or the circuit.
  Actions begin(Instant now, Dice&);
  /// A final response head arrived for the running attempt.
  Actions responded(const AttemptReport&, const Responded&, Instant now, Dice&);
  /// The running attempt ended without one.
  Actions failed(const AttemptReport&, const Failed&, Instant now, Dice&);
  /// When `hedge_due` is to be reported for the running attempt; absent if the attempt gets no copy.
  std::optional<Instant> hedge_at() const;
  /// The running attempt has no response yet. Asks for a copy beside it, or for nothing: the ledger says why.
  /// The report describes the request's body now: `replayable` only if the body is whole, too.
  Actions hedge_due(const AttemptReport&, Instant now);
  /// The wait is over.
  Actions waited(Instant now);
  /// The response of the last attempt was read whole and is held: the client gets it if nothing better
  /// follows. A newer response replaces it.
  void response_kept();
  /// The response of the last attempt cannot be kept (too long, broken): there is nothing to fall back on.
  void response_dropped();
  /// The delivered body, or its continuation, ended early: waits to resume the body, or cuts. The deadline
  /// does not apply any more.
  Actions body_broke(const Break&, Instant now, Dice&);
  /// A body that had stalled, and whose connection was kept, brought bytes before its continuation did:
  /// delivers that body again. `report`: of the `Resume` that ran, if one did.
  Actions body_went_on(const AttemptReport&, Instant now);
  /// The running attempt's response to a `Resume` is the rest of the body.
  Actions continued(const AttemptReport&, const Responded&, Instant now);
  /// The response to a `Resume` is a 200 of the right version from which the missing bytes cannot be counted
  /// off: asks again.
  Actions uncounted(const AttemptReport&, const Responded&, Instant now, Dice&);
  /// The response to a `Resume` is a 200 or a 206, and not the rest.
  Actions differed(const AttemptReport&, const Responded&, Instant now);
  /// The delivered response went out whole: only while it is being delivered.
  void delivered();
  /// The client closed its sending side: the running attempt goes on, no later one starts, a wait ends.
  Actions client_finished(Instant now);
  /// The client reset the connection: everything stops.
  Actions client_reset(Instant now);
  /// SIGTERM: the running attempt goes on, a wait ends with the last response.
  Actions shutdown(Instant now);

  std::optional<Instant> deadline() const { return deadline_; }
  const Ledger& ledger() const { return ledger_; }
  /// True once an action ended the exchange (deliver and its end, cut, fail, leave).
  bool over() const { return state_ == State::over; }

 private:
  enum class State : std::uint8_t { idle, attempting, waiting, delivering, resuming, over };

  // Before an attempt.
  Actions approach(Instant now);
  Actions start_next(Instant now);
  Actions start_free_retry(Instant now, bool given_back);
  Actions resume_next(Instant now);
  Actions wait_until(Instant);

  // When an attempt ends.
  bool runs(const AttemptReport&) const;
  bool resumes(const AttemptReport&) const;
  unsigned number_of(const AttemptReport&) const;
  Instant admission_of(unsigned number) const;
  void observe_latency(const Outcome&, Instant now);
  Actions settle(const AttemptReport&, const Outcome&, Instant now, Dice&);
  Verdict overrule(Verdict, Instant now);
  Attempt attempt_now(const AttemptReport&) const;
  void enter(const AttemptReport&, const Outcome&, const Verdict&, Instant now);

  // While two copies race.
  Reason admit_copy(const AttemptReport&, Instant now);
  Actions one_copy_failed(const AttemptReport&, const Outcome&, Instant now);
  std::optional<unsigned> enter_end(const AttemptReport&, const Outcome&, const Verdict&, Instant now);
  void enter_step(const HedgeRace::Step&, const AttemptReport&, const Outcome&, const Verdict&, Instant now);

  // After the response head is out.
  Actions resume_refused(const AttemptReport&, const Responded&, Instant now, Dice&);
  Actions resume_failed(const AttemptReport&, const Failed&, Instant now, Dice&);
  Actions resume_again(const Hints&, Instant now, Dice&);
  Actions give_up(const AttemptReport&, const Outcome&, Reason, Instant now);

  // Ends.
  Actions stop(Reason);
  Actions stop_waiting(Reason, Instant now);
  void end_wait(Reason, Instant now);
  Actions cut(Reason);
  Actions abandon_attempts(Instant now);

  const RoutePolicy& policy_;
  Facts facts_;
  ObservedLatency* latency_;
  std::optional<Instant> deadline_;
  Ledger ledger_;
  HostAccount host_;
  HedgeRace race_;
  ResponseAtHand response_;
  std::optional<DeliveredBody> body_;  ///< from Deliver on
  State state_ = State::idle;
  std::optional<Reason> stopped_;  ///< no attempt starts any more: the client's end, or ours
  unsigned number_ = 0;            ///< of the attempt that was started last
  unsigned charged_ = 0;           ///< attempts without free retries and resumes
  bool stale_retry_used_ = false;
  Duration wait_{};             ///< before the attempt that was started last
  std::optional<Instant> due_;  ///< when the last wait was to end
  Instant started_{};
  Instant admitted_{};  ///< when the circuit let the running attempt in; a free retry is let in already
};

/// True if the exchange asks for something or is over. False, while nothing is under way, is a bug: the
/// exchange would never end.
inline bool leads_on(const Exchange& exchange, const Actions& asked) {
  return asked.size() > 0 || exchange.over();
}

}  // namespace reprise::policy
