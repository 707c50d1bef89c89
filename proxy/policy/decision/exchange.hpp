// The loop of one request as a pure state machine: events in, actions out. Sockets, tests and the simulator
// obey it alike.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <variant>

#include "proxy/policy/decision/decide.hpp"
#include "proxy/policy/decision/decide_resume.hpp"
#include "proxy/policy/decision/ledger.hpp"

namespace reprise::policy {

/// Begin attempt `number`; on a connection that never carried a request, if `fresh`.
struct Start {
  unsigned number = 1;
  bool fresh = false;
};
/// Sleep until then. While sleeping, read the response at
/// hand into the kept response and report `response_kept`.
struct Wait {
  Instant until{};
};
/// Give the client the response of that attempt.
struct Deliver {
  unsigned number = 1;
};
/// Stop that attempt: nobody wants its response.
struct Cancel {
  unsigned number = 1;
};
/// Begin attempt `number`, on a connection that never carried a request: it asks for what is missing of the
/// delivered response's body. Report `continued`, `uncounted` or `differed` where its status is 200 or 206.
struct Resume {
  unsigned number = 1;
};
/// Append the body of that attempt's response to what the client has.
struct Continue {
  unsigned number = 1;
};
/// Break the client's connection: part of the response is out and the rest cannot follow.
struct Cut {};
/// Respond in our own words: there is no upstream response to give, or the deadline asks for a 504.
struct Fail {
  bool gateway_timeout = false;  ///< out_of_time: 504
  bool close = false;            ///< no response: the client's connection ends as the upstream's did
};
/// The client is gone: there is nobody to respond to.
struct Leave {};

using Action = std::variant<Start, Wait, Deliver, Cancel, Resume, Continue, Cut, Fail, Leave>;

/// What one event asks for: to be obeyed one by one, in order; never more than three. Only the last one leads
/// to another event; what comes before it is `Cancel`.
class [[nodiscard]] Actions {
 public:
  Actions() = default;
  Actions(Action only) : list_{only, {}}, size_(1) {}  // NOLINT(google-explicit-constructor)
  Actions(Action first, Action second) : list_{first, second}, size_(2) { assert(is_cancel(first)); }
  Actions(Action first, Action second, Action third) : list_{first, second, third}, size_(3) {
    assert(is_cancel(first) && is_cancel(second));
  }
  const Action* begin() const { return list_.data(); }
  const Action* end() const { return list_.data() + size_; }
  std::size_t size() const { return size_; }
  /// Only below size().
  const Action& operator[](std::size_t i) const {
    assert(i < size_);
    return list_[i];
  }

 private:
  static bool is_cancel(const Action& action) { return std::holds_alternative<Cancel>(action); }

  std::array<Action, 3> list_{};
  std::size_t size_ = 0;
};

/// How an attempt went, as the I/O saw it; the exchange adds its own counting.
struct AttemptReport {
  bool reused = false;
  Sent sent = Sent::nothing;
  bool replayable = true;
  Idempotency idempotent = Idempotency::no;  ///< judged now, on what is held of the body now
  unsigned number = 0;                       ///< which attempt; 0: the only one that runs
  UpstreamAddress address{};                 ///< for the record alone, like what follows
  std::uint64_t sent_bytes = 0;
};

/// What all requests to one upstream host share; each part may be null (off).
struct HostShare {
  HostShare(Budget* for_retries = nullptr, Circuit* breaker = nullptr,  // NOLINT(google-explicit-constructor)
            HostPause* asked_pause = nullptr)
      : budget(for_retries), circuit(breaker), pause(asked_pause) {}

  Budget* budget;
  Circuit* circuit;
  HostPause* pause;
};

/// One per request. Single-threaded; what it shares with others of its host is thread-safe. An event that
/// does not fit the state (a timer that fires after the wait was ended, news of a cancelled attempt) asks for
/// nothing and changes nothing.
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
  /// the route's; null where nobody goes by it.
  Exchange(const RoutePolicy& policy, const Facts& facts, HostShare host, Instant head_at,
           ObservedLatency* latency = nullptr);

  /// An attempt of this request that was made before and whose verdict was to retry, in the order in which
  /// they were made: the exchange goes on behind it. Only before `begin`. The budget is fed and taken from at
  /// its end, as if it had been made here.
  void take_up(const LedgerEntry&);
  /// Starts attempt 1, or waits for the end of a pause that the host has asked for (spread by
  /// up to the route's first wait, like its retries after it), or is turned away by the pause
  /// or the circuit: nothing is sent then.
  Actions begin(Instant now, Dice&);
  /// A final response head arrived for the running attempt.
  Actions answered(const AttemptReport&, const Answered&, Instant now, Dice&);
  /// The running attempt ended without one.
  Actions failed(const AttemptReport&, const Failed&, Instant now, Dice&);
  /// When `hedge_due` is to be said of the running attempt; nothing where it gets no copy.
  std::optional<Instant> hedge_at() const;
  /// The running attempt has no response yet. Asks for a copy beside it, or for nothing: the ledger says why.
  /// The report tells of the body now: `replayable` only if it is whole, too.
  Actions hedge_due(const AttemptReport&, Instant now);
  /// The wait is over.
  Actions waited(Instant now);
  /// The response of the last attempt was read whole and is held: what the client gets if nothing better
  /// follows. An older one is forgotten as soon as a newer response comes.
  void response_kept();
  /// The response of the last attempt cannot be kept (too long, broken): there is nothing to fall back on.
  void response_dropped();
  /// The delivered response's body, or that of the attempt that continued it, ended early: waits to resume
  /// it, or cuts. From here on the deadline does not apply.
  Actions body_broke(const Break&, Instant now, Dice&);
  /// The body whose break was a stall, and whose connection was kept, has brought something before what was
  /// asked for in its place did: it is delivered on. `report`: of the `Resume` that ran, if one did.
  Actions body_went_on(const AttemptReport&, Instant now);
  /// The running attempt's response to a `Resume` is the rest of the body.
  Actions continued(const AttemptReport&, const Answered&, Instant now);
  /// It is a 200 of the right version, but none that the missing bytes could be counted off from: asks again.
  Actions uncounted(const AttemptReport&, const Answered&, Instant now, Dice&);
  /// It is a 200 or a 206, and not the rest.
  Actions differed(const AttemptReport&, const Answered&, Instant now);
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
  /// One of the two copies of a hedged attempt.
  struct Copy {
    unsigned number = 0;
    Instant started{};  ///< and let in by the circuit
    bool runs = true;
  };
  /// Attempt 1 and the copy beside it, until both have ended or one has won.
  struct Hedge {
    Copy first;
    Copy second;    ///< attempt `number_`
    Hints asked{};  ///< by the response of the copy that has ended
    Instant asked_at{};

    bool both_run() const { return first.runs && second.runs; }
    Copy* find(unsigned number) {
      if (number == first.number) return &first;
      return number == second.number ? &second : nullptr;
    }
  };

  Actions approach(Instant now);
  std::optional<Instant> wait_for_host(Instant now) const;
  std::optional<Reason> stopped_from_outside() const;
  bool is_paused(Instant now) const;
  Actions start_next(Instant now);
  void tell_host(const Outcome&, const Verdict&, Instant admitted, Instant now);
  Instant admission_of(unsigned number) const;
  Actions settle(const AttemptReport&, const Outcome&, Instant now, Dice&);
  bool runs(const AttemptReport&);
  bool resumes(const AttemptReport&) const;
  unsigned number_of(const AttemptReport&) const;
  Reason admit_hedge(const AttemptReport&, Instant now);
  Actions one_copy_failed(const AttemptReport&, const Outcome&, Instant now);
  Hints asked_by_other_copy(Instant now) const;
  std::optional<unsigned> end_race(const AttemptReport&, const Outcome&, const Verdict&, Instant now);
  void enter_copy(const Copy&, const AttemptReport&, const Outcome&, Instant now);
  void enter_cancelled(const Verdict&, Instant now);
  void observe_latency(const Outcome&, Instant now);
  Actions abandon_attempts(Instant now);
  Actions go_on(const Verdict&, Instant now);
  Actions go_on_at_once(Instant now, bool given_back);
  Actions stop(Reason);
  Actions deliver(unsigned number);
  Actions stop_waiting(Reason, Instant now);
  void end_wait(Reason, Instant now);
  Attempt attempt_now(const AttemptReport&) const;
  void enter(const AttemptReport&, const Outcome&, const Verdict&, Instant now);
  Verdict overrule(Verdict, Instant now);
  bool is_ambiguous(unsigned number) const;

  bool is_out() const { return body_of_.has_value(); }
  double budget_left(Instant now);
  void count_first(Instant now);
  [[nodiscard]] bool account_for(const AttemptReport&, const Outcome&, Instant now);
  [[nodiscard]] bool pay_for_retry(Instant now);
  Actions resume_next(Instant now);
  Actions resume_refused(const AttemptReport&, const Answered&, Instant now, Dice&);
  Actions resume_failed(const AttemptReport&, const Failed&, Instant now, Dice&);
  Actions resume_again(const Hints&, Instant now, Dice&);
  Actions give_up(const AttemptReport&, const Outcome&, Reason, Instant now);
  Actions cut(Reason);

  /// A body that is silent and may go on: its attempt, and what was to be said of that.
  struct Stalled {
    unsigned number;
    Outcome outcome;
    Verdict verdict;
    Reason reason;
  };

  const RoutePolicy& policy_;
  Facts facts_;
  HostShare host_;
  ObservedLatency* latency_;
  std::optional<Instant> deadline_;
  Ledger ledger_;
  State state_ = State::idle;
  std::optional<Hedge> hedge_;
  std::optional<Stalled> stalled_;
  std::optional<Instant> hedge_at_;
  unsigned number_ = 0;
  unsigned charged_ = 0;
  bool stale_retry_used_ = false;
  bool client_finished_ = false;
  bool shutting_down_ = false;
  Duration wait_{};
  Instant started_{};
  Instant admitted_{};    ///< when the circuit let the running attempt in; a free retry is let in already
  bool counted_ = false;  ///< the budget knows of the first attempt
  double budget_seen_ = std::numeric_limits<double>::infinity();  ///< when it was last asked
  std::optional<Instant> withdrawn_;  ///< when the retry that is scheduled or runs was taken from the budget
  std::optional<Instant> due_;        ///< when the last wait was to end
  Duration spread_{};                 ///< so long after the end of its host's pause this request comes back
  std::optional<unsigned> response_;  ///< the attempt whose response is at hand
  bool response_whole_ = false;       ///< it was read to its end
  std::optional<unsigned> body_of_;   ///< the attempt whose body the client is getting; set from Deliver on
  bool continuable_ = false;
  unsigned in_vain_ = 0;  ///< resumes in a row that brought no byte
};

/// True if whoever obeys the exchange, and has nothing under way, knows what to do next: something is asked
/// for, or it is over. False is a bug: the exchange would never end.
inline bool leads_on(const Exchange& exchange, const Actions& asked) {
  return asked.size() > 0 || exchange.over();
}

}  // namespace reprise::policy
