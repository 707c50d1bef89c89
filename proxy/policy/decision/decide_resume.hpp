// Whether a broken download is asked for once more: decide()'s sister for what comes after the head.
#pragma once

#include <optional>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/policy/decision/verdict.hpp"
#include "proxy/policy/pacing/backoff.hpp"
#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy {

/// What broke a delivered body, and what there is to go on from.
struct Break {
  Cause cause = Cause::truncated;
  bool continuable = false;  ///< the rest can be asked for without doubt: Download
  bool progress = false;     ///< the client got body bytes of the attempt that broke
  bool differs = false;      ///< a continuation brought more than the rest
  /// When the request's signature runs out, whatever the route says of signatures: an upstream that checks it
  /// refuses what comes later (row E11).
  std::optional<Instant> signed_until = std::nullopt;
  bool stays_open = false;  ///< it is only silent, and may go on; or one that broke so before may
};

/// What was tried already.
struct ResumeHistory {
  unsigned in_vain = 0;  ///< resumes in a row that brought no byte
  Duration wait{};       ///< the wait before the last of them; zero for none
};

/// Pure. `hints` are those of a response that refused to continue. The deadline has no say; the dice are
/// rolled only when every gate before the wait was passed.
Verdict decide_resume(const Facts&, bool continuable, const ResumeHistory&, const Hints&, const RoutePolicy&,
                      Instant now, Dice&, double budget_left);

/// The reason of a resume that ended without a response: `resumed` if another one may follow, else why no
/// repetition mends the failure.
Reason reason_after_failure(Cause);

/// Between what the wait before that resume was drawn, hints included: for the record.
WaitRange wait_bounds(const ResumeHistory&, const Hints&, const RoutePolicy&);

}  // namespace reprise::policy
