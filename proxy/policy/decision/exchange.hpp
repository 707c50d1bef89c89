// The retry state machine of one request: events in, actions out. The I/O, the tests and the simulator run
// the same code.
#pragma once

#include <optional>

#include "proxy/policy/decision/actions.hpp"
#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/delivered_body.hpp"
#include "proxy/policy/decision/hedge_race.hpp"
#include "proxy/policy/decision/host_account.hpp"
#include "proxy/policy/decision/response_at_hand.hpp"

namespace reprise::policy {

/// The retry state machine of one request. Single-threaded; the state shared with other requests of the host
/// is thread-safe. Events return the actions to take. An event that does not fit the state (a timer that
/// fires after its wait ended, a report on a cancelled attempt) returns no action and changes nothing.
///
/// Separate classes handle: the race of attempt 1 and its copy (`HedgeRace`), the host's budget and circuit
/// (`HostAccount`), the response held during a wait (`ResponseAtHand`), and the body that the client receives
/// (`DeliveredBody`).
///
///   state       event                      returned actions (-: none; | : or)
///   idle        take_up                    -
///               begin                      Start | Wait | Fail
///   attempting  responded, failed          Wait | Start | [Cancel] Deliver | Fail; - if a copy still runs
///               hedge_due                  Start (the copy) | -
///   waiting     response_kept, _dropped    -
///               waited                     Start | Resume | Wait | Deliver | Fail | Cut
///               client_finished, shutdown  Deliver | Fail | Cut; - for client_finished before attempt 1
///   delivering  body_broke                 Wait | Cut
///               delivered                  -; the exchange is over
///   waiting, resuming, delivering
///               body_went_on               Continue (the body that had stalled)
///   resuming    continued                  Continue
///               responded, failed          Wait | Cut
///               uncounted                  Wait | Cut
///               differed                   Cut
///   not over    client_reset, rejected     [Cancel [Cancel]] Leave
///   any other   client_finished, shutdown  -; remembered for the next decision
///
/// The last action determines the next state: attempting after Start, waiting after Wait, delivering after
/// Deliver or Continue, resuming after Resume, and over after Cut, Fail or Leave.
class Exchange {
 public:
  /// `host`, `policy` and `latency` must outlive the exchange. The deadline starts at `head_at`; a call
  /// may have an earlier deadline of its own. `latency`:
  /// the latency that was observed on the route; null if the route hedges after a fixed time or does not
  /// hedge.
  Exchange(const RoutePolicy& policy, const Facts& facts, HostShare host, Instant head_at,
           ObservedLatency* latency = nullptr);

  /// Adds an earlier attempt of this request whose verdict was a retry, as if this exchange had made the
  /// attempt. Accounts for it in the host's budget at the time when it ended. The exchange continues after
  /// this attempt. Precondition: called before `begin`, in the order of the attempts.
  void take_up(const LedgerEntry&);
  /// Starts attempt 1. If the host has asked for a pause, the key `host_pause` decides: ignore the pause,
  /// wait until it ends (plus a random part of the route's first wait), or fail without an attempt. Also
  /// fails if the circuit is open.
  Actions begin(Instant now, Dice&);
  /// Reports that the final response head of the running attempt has arrived.
  Actions responded(const AttemptReport&, const Responded&, Instant now, Dice&);
  /// Reports that the running attempt ended without a response head.
  Actions failed(const AttemptReport&, const Failed&, Instant now, Dice&);
  /// Returns when to report `hedge_due` for the running attempt; nothing if the attempt gets no copy.
  std::optional<Instant> hedge_at() const;
  /// Reports that the running attempt still has no response at the time that `hedge_at` returned, or later,
  /// when it has sent the last byte of the request. Returns the start of a copy. If no copy may start,
  /// returns no action and records the reason in the ledger. The report describes the request body at this
  /// time: `replayable` may be true only if the whole body has been received.
  Actions hedge_due(const AttemptReport&, Instant now);
  /// Reports that the wait of the last `Wait` action is over.
  Actions waited(Instant now);
  /// Reports that the response of the last attempt was read to its end and is held. The client gets it if no
  /// better response follows. A newer response replaces it.
  void response_kept();
  /// Reports that the response of the last attempt cannot be held (too long, or broken), so that it can no
  /// longer be delivered.
  void response_dropped();
  /// Reports that the response body being delivered, or its continuation by a resume, ended early. Waits to
  /// resume the body, or cuts the client's connection. From now on the deadline does not apply.
  Actions body_broke(const Break&, Instant now, Dice&);
  /// Reports that a stalled body continues: its connection is still open and brought bytes before any resume
  /// did. Continues to deliver that body. The report describes the `Resume` that ran, if there was one.
  Actions body_went_on(const AttemptReport&, Instant now);
  /// Reports that the response to the running `Resume` is the rest of the body.
  Actions continued(const AttemptReport&, const Responded&, Instant now);
  /// Reports that the response to a `Resume` is a 200 with the right version of the content, but without a
  /// usable length, so that the missing bytes cannot be located. Resumes again, or cuts the client's
  /// connection.
  Actions uncounted(const AttemptReport&, const Responded&, Instant now, Dice&);
  /// Reports that the response to a `Resume` is a 200 or 206 that is not the rest of the body. Cuts the
  /// client's connection.
  Actions differed(const AttemptReport&, const Responded&, Instant now);
  /// Reports that the response was delivered completely. Precondition: a response is being delivered.
  void delivered();
  /// Reports that the client closed its sending side. The running attempt continues, no later attempt starts,
  /// and a wait ends.
  Actions client_finished(Instant now);
  /// Reports that the client reset the connection. Stops all attempts. `stopped`: what is known of one of
  /// them.
  Actions client_reset(Instant now, const StoppedAttempt& stopped = {});
  /// Reports that the proxy rejects the request, because the part of its body that came during an attempt is
  /// malformed or too large. Stops all attempts.
  Actions rejected(Instant now, const StoppedAttempt& stopped);
  /// Reports SIGTERM. The running attempt continues; a wait ends, and the last response is delivered.
  Actions shutdown(Instant now);

  std::optional<Instant> deadline() const { return deadline_; }
  const Ledger& ledger() const { return ledger_; }
  /// Returns true if the exchange has ended: the response was delivered, or the last action was Cut, Fail or
  /// Leave.
  bool over() const { return state_ == State::over; }

 private:
  enum class State : std::uint8_t { idle, attempting, waiting, delivering, resuming, over };

  // The following functions run before an attempt.
  Actions approach(Instant now);
  Actions start_next(Instant now);
  Actions start_free_retry(Instant now, bool given_back);
  Actions resume_next(Instant now);
  Actions wait_until(Instant);

  // The following functions run at the end of an attempt.
  bool runs(const AttemptReport&) const;
  bool resumes(const AttemptReport&) const;
  unsigned number_of(const AttemptReport&) const;
  Instant admission_of(unsigned number) const;
  void observe_latency(const Outcome&, Instant now);
  Actions settle(const AttemptReport&, const Outcome&, Instant now, Dice&);
  Verdict overrule(Verdict, Instant now);
  Attempt attempt_now(const AttemptReport&) const;
  void enter(const AttemptReport&, const Outcome&, const Verdict&, Instant now);

  // The following functions handle the race of attempt 1 and its copy.
  Reason admit_copy(const AttemptReport&, Instant now);
  Actions one_copy_failed(const AttemptReport&, const Outcome&, Instant now);
  std::optional<unsigned> enter_end(const AttemptReport&, const Outcome&, const Verdict&, Instant now);
  void enter_step(const HedgeRace::Step&, const AttemptReport&, const Outcome&, const Verdict&, Instant now,
                  const StoppedAttempt& = {});

  // The following functions run after the response head was sent to the client.
  Actions resume_refused(const AttemptReport&, const Responded&, Instant now, Dice&);
  Actions resume_failed(const AttemptReport&, const Failed&, Instant now, Dice&);
  Actions resume_again(const Hints&, Instant now, Dice&);
  Actions give_up(const AttemptReport&, const Outcome&, Reason, Instant now);

  // The following functions end the exchange or a wait.
  Actions stop(Reason);
  Actions stop_waiting(Reason, Instant now);
  void end_wait(Reason, Instant now);
  Actions cut(Reason);
  Actions leave(Reason, Instant now, const StoppedAttempt&);
  Actions abandon_attempts(Reason, Instant now, const StoppedAttempt&);

  const RoutePolicy& policy_;
  Facts facts_;
  ObservedLatency* latency_;
  std::optional<Instant> deadline_;
  Ledger ledger_;
  HostAccount host_;
  HedgeRace race_;
  ResponseAtHand response_;
  std::optional<DeliveredBody> body_;  ///< absent until the exchange returns `Deliver`
  State state_ = State::idle;
  /// Why no further attempt starts: the client has gone, or the proxy shuts down.
  std::optional<Reason> stopped_;
  unsigned number_ = 0;   ///< number of the last started attempt
  unsigned charged_ = 0;  ///< number of attempts, not counting free retries and resumes
  bool stale_retry_used_ = false;
  Duration wait_{};             ///< wait before the last started attempt
  std::optional<Instant> due_;  ///< planned end of the last wait
  Instant started_{};
  /// When the circuit admitted the running attempt. A free retry keeps the time of the stale attempt.
  Instant admitted_{};
};

/// Returns true if the exchange returned an action or is over. A result of false is a bug if no attempt or
/// wait is under way: the exchange would then hang.
inline bool leads_on(const Exchange& exchange, const Actions& asked) {
  return asked.size() > 0 || exchange.over();
}

}  // namespace reprise::policy
