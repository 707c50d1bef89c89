// One request's account with its upstream host: what the request takes of the budget, the circuit and the
// pause that all requests to the host share, and what it reports to them.
#pragma once

#include <limits>
#include <optional>
#include <variant>

#include "proxy/policy/decision/attempt_report.hpp"
#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {

/// What all requests to one upstream host share; each part may be null (off).
struct HostShare {
  HostShare(Budget* for_retries = nullptr, Circuit* breaker = nullptr,  // NOLINT(google-explicit-constructor)
            HostPause* asked_pause = nullptr)
      : budget(for_retries), circuit(breaker), pause(asked_pause) {}

  Budget* budget;
  Circuit* circuit;
  HostPause* pause;
};

/// `Exchange` owns one. Single-threaded; the parts of the share are thread-safe.
class HostAccount {
 public:
  /// The attempt may start now, and the circuit counts it from now on.
  struct Admitted {};
  /// The host has asked for a pause: ask again then.
  struct Paused {
    Instant until{};
  };
  /// No attempt may start.
  struct Refused {
    Reason reason = Reason::host_paused;
  };
  using Admission = std::variant<Admitted, Paused, Refused>;

  /// `policy` must outlive the account.
  HostAccount(HostShare share, const RoutePolicy& policy) : share_(share), policy_(policy) {}

  /// Draws how long after the end of a pause this request comes back: up to the route's first wait. Rolls the
  /// dice only if the route waits for pauses.
  void draw_spread(Dice&);
  /// Asks whether an attempt may start now. `due`: when the request's last wait was to end.
  Admission admit(Instant now, std::optional<Instant> deadline, std::optional<Instant> due);
  /// Asks the same for a copy beside attempt 1, and pays for it. `judged` is `hedged` or `observe_only`;
  /// returns it, or why the copy must not start.
  Reason admit_copy(Reason judged, Instant now);

  /// Returns the retries that the budget has left, and remembers the number; infinite without a budget.
  double budget_left(Instant now);
  double budget_last_seen() const { return budget_seen_; }
  /// Counts the first attempt of this request for the budget, once.
  void count_first(Instant now);
  /// Counts attempt `number` as it ended: attempt 1 feeds the budget unless it was kept here. Gives a retry
  /// back that ended without having sent a byte, which has burdened nobody (decision 0015), and returns true
  /// then. `latest` is the number of the attempt that was started last: the one that was paid for.
  [[nodiscard]] bool account_for(unsigned number, unsigned latest, const AttemptReport&, const Outcome&,
                                 Instant now);
  /// Takes a retry from the budget. Returns false if none is left.
  [[nodiscard]] bool pay_for_retry(Instant now);
  /// Takes what a retry would have cost; without effect if the budget is empty.
  void pay_for_observed(Instant now);
  /// A free retry takes the place of the attempt that was stale: what paid for that attempt pays for it.
  /// `given_back`: as `account_for` returned for the stale attempt.
  void pass_payment_on(bool given_back, Instant now);
  /// Gives the scheduled retry back: it never starts.
  void refund_retry(Instant now);

  /// Reports what an attempt showed of its host to the pause and the circuit, which let the attempt in at
  /// `admitted`.
  void report(const Outcome&, const Verdict&, Instant admitted, Instant now);
  /// Takes the attempt that the circuit let in then out of its account: the attempt shows nothing of the
  /// host.
  void discard(Instant admitted);

 private:
  bool heeds_pause() const;
  bool is_paused(Instant now) const;
  std::optional<Instant> back_at(Instant now, std::optional<Instant> due) const;

  HostShare share_;
  const RoutePolicy& policy_;
  bool first_counted_ = false;
  double budget_seen_ = std::numeric_limits<double>::infinity();
  std::optional<Instant> withdrawn_;  ///< when the retry that is scheduled or runs was taken from the budget
  Duration spread_{};                 ///< from the end of a pause to this request's return
};

}  // namespace reprise::policy
