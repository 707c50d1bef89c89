// The account of one request with its upstream host: what the request takes from the shared budget, circuit
// and pause, and what it reports to them.
#pragma once

#include <limits>
#include <optional>
#include <variant>

#include "proxy/policy/decision/attempt_report.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {

/// The state shared by all requests to one upstream host. Each pointer is null if its feature is off.
struct HostShare {
  HostShare(Budget* for_retries = nullptr, Circuit* breaker = nullptr,  // NOLINT(google-explicit-constructor)
            HostPause* asked_pause = nullptr)
      : budget(for_retries), circuit(breaker), pause(asked_pause) {}

  Budget* budget;
  Circuit* circuit;
  HostPause* pause;
};

/// Owned by `Exchange`. Single-threaded; the objects in `HostShare` are thread-safe.
class HostAccount {
 public:
  /// The attempt may start now. From now on the circuit counts it.
  struct Admitted {};
  /// The host has asked for a pause. Call `admit` again at the given time.
  struct Paused {
    Instant until{};
  };
  /// The attempt must not start.
  struct Refused {
    Reason reason = Reason::host_paused;
  };
  using Admission = std::variant<Admitted, Paused, Refused>;

  /// `policy` must outlive the account.
  HostAccount(HostShare share, const RoutePolicy& policy) : share_(share), policy_(policy) {}

  /// Draws the random delay from the end of a pause to the next attempt of this request. The maximum is the
  /// route's initial backoff. Rolls the dice only if requests of the route wait until a pause ends.
  void draw_spread(Dice&);
  /// Returns whether an attempt may start now. `due` is the planned end of the request's last wait.
  Admission admit(Instant now, std::optional<Instant> deadline, std::optional<Instant> due);
  /// Decides whether a hedged copy of attempt 1 may start. If so, withdraws the copy from the budget and
  /// returns `judged`. Otherwise returns the reason why the copy may not start. Precondition: `judged` is
  /// `hedged` or `observe_only`.
  Reason admit_copy(Reason judged, Instant now);

  /// Returns the number of retries left in the budget, and stores it for `budget_last_seen`. The number is
  /// infinite if there is no budget.
  double budget_left(Instant now);
  double budget_last_seen() const { return budget_seen_; }
  /// Counts the first attempt of this request in the budget. Later calls do nothing.
  void count_first(Instant now);
  /// Accounts for attempt `number` at its end. Attempt 1 adds to the budget, unless this host caused its
  /// failure before a byte was sent. If the upstream gave it back unprocessed, the next attempt counts as the
  /// first (row M85). A retry that ended before it sent a byte is refunded, because
  /// it put no load on the upstream (decision 0015). Returns true if a retry was refunded. `latest` is the
  /// number of the last started attempt; only that attempt can be refunded.
  [[nodiscard]] bool account_for(unsigned number, unsigned latest, const AttemptReport&, const Outcome&,
                                 Instant now);
  /// Withdraws a retry from the budget. Returns false if none is left.
  [[nodiscard]] bool pay_for_retry(Instant now);
  /// Withdraws from the budget a retry that is only observed: an active route would send it. Does nothing if
  /// the budget is empty.
  void pay_for_observed(Instant now);
  /// Accounts for the retry after a stale connection. This retry uses what was withdrawn from the budget for
  /// the attempt on the stale connection. If that amount was refunded, withdraws a retry again. `given_back`
  /// is the result of `account_for`: true if the amount was refunded.
  void pass_payment_on(bool given_back, Instant now);
  /// Refunds the scheduled retry, because it will not start.
  void refund_retry(Instant now);

  /// Reports the outcome of an attempt to the host's pause and circuit. `admitted` is when the circuit
  /// admitted the attempt.
  void report(const Outcome&, const Verdict&, Instant admitted, Instant now);
  /// Removes the attempt that the circuit admitted at `admitted` from the circuit's count, because the
  /// outcome of the attempt does not depend on the host.
  void discard(Instant admitted);

 private:
  bool heeds_pause() const;
  bool is_paused(Instant now) const;
  std::optional<Instant> back_at(Instant now, std::optional<Instant> due) const;

  HostShare share_;
  const RoutePolicy& policy_;
  unsigned first_ = 1;  ///< number of the attempt that adds to the budget
  bool first_counted_ = false;
  double budget_seen_ = std::numeric_limits<double>::infinity();
  std::optional<Instant> withdrawn_;  ///< when the scheduled or running retry was withdrawn from the budget
  Duration spread_{};                 ///< delay from the end of a pause to the next attempt of this request
};

}  // namespace reprise::policy
