#include "tests/simulation/policy/host_laws.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/play.hpp"

namespace reprise::simulation {

using policy::Failed;
using policy::Reason;
using policy::Responded;
using policy::WhilePaused;
using Kind = Happening::Kind;

HostLaws::HostLaws(const HostStory& story) : route_(story.route) {
  if (story.pause > Duration::zero()) pause_ = play::epoch + story.pause;
  if (!route_.circuit) return;
  circuit_.emplace(*route_.circuit);
  for (unsigned i = 0; i < story.failures; ++i) circuit_->failed(play::epoch, play::epoch);
}

void HostLaws::after(const Happening& what, const policy::Actions& actions, const policy::Exchange& exchange,
                     const VisitLaws& visit, const policy::Circuit* circuit, const policy::HostPause& pause) {
  bool stale = false;
  for (const policy::Action& action : actions) {
    const auto* start = std::get_if<policy::Start>(&action);
    stale = stale || (start != nullptr && start->fresh);
    judge_approach(what, action, exchange, visit);
  }
  follow_probes(visit, stale);
  if (what.kind == Kind::hedge_due && visit.judged_hedge()) judge_hedge(what, exchange);
  if (what.kind == Kind::attempt_ended && visit.heard()) {
    hear(what, visit.tried(what.number).admitted, stale, visit.running() > (stale ? 1U : 0U));
  }
  if (circuit_) {
    for (const unsigned number : visit.stopped()) circuit_->discard(visit.tried(number).admitted);
  }
  require(pause.until(what.at) == (is_paused(what.at) ? pause_ : std::nullopt),
          "the host is paused for as long as it asked, within bounds");
  if (circuit_ && circuit != nullptr) {
    require(circuit_->state(what.at) == circuit->state(what.at), "the circuit hears of every attempt, once");
  }
}

// Checks that the host's pause and circuit allow each attempt that starts. Exception: the retry of a stale
// connection, because the attempt that it replaces was admitted.
void HostLaws::judge_approach(const Happening& what, const policy::Action& action,
                              const policy::Exchange& exchange, const VisitLaws& visit) {
  const auto* start = std::get_if<policy::Start>(&action);
  const bool approaches = what.kind == Kind::arrived || what.kind == Kind::wait_ended;
  const auto* resume = std::get_if<policy::Resume>(&action);
  if ((start != nullptr && !start->fresh) || resume != nullptr) {
    require(!is_paused(what.at) || route_.while_paused == WhilePaused::go,
            "nothing is sent to a host that asked for a pause");
    return admit(what, visit, start != nullptr ? start->number : resume->number);
  }
  if (!approaches) return;
  if (const auto* wait = std::get_if<policy::Wait>(&action)) {
    require(route_.while_paused == WhilePaused::wait, "only a paused host is waited for");
    const bool fits = pause_ && wait->until > what.at && wait->until >= *pause_ &&
                      wait->until <= *pause_ + route_.retry.backoff.initial;
    return require(fits, "a paused host is waited for until it is ready");
  }
  if (exchange.ledger().reason == Reason::host_paused) require(is_paused(what.at), "a ready host is asked");
  if (exchange.ledger().reason == Reason::circuit_open) {
    require(circuit_ && !circuit_->admit(what.at), "a working host is asked");
  }
}

void HostLaws::admit(const Happening& what, const VisitLaws& visit, unsigned number) {
  if (!circuit_) return;
  const bool probe = circuit_->state(what.at) == policy::Circuit::State::half_open;
  require(circuit_->admit(what.at), "nothing is sent through an open circuit");
  if (!probe) return;
  const bool alone = std::none_of(probes_.begin(), probes_.end(), [&](const Probe& other) {
    return what.at - other.since < route_.circuit->open;
  });
  require(alone, "a half-open circuit lets one probe through at a time");
  probes_.push_back({&visit, number, what.at});
}

// If a probe used a stale connection, makes the retry of that attempt the probe. Removes probes that have
// ended.
void HostLaws::follow_probes(const VisitLaws& visit, bool stale) {
  if (probes_.empty()) return;
  for (Probe& probe : probes_) {
    if (stale && probe.visit == &visit && !visit.runs(probe.number)) ++probe.number;
  }
  std::erase_if(probes_,
                [&](const Probe& probe) { return probe.visit == &visit && !visit.runs(probe.number); });
}

void HostLaws::judge_hedge(const Happening& what, const policy::Exchange& exchange) {
  const policy::Ledger& ledger = exchange.ledger();
  // The circuit must have admitted even a hedge that is only observed.
  if (ledger.hedge == policy::HedgeOutcome::observed && circuit_) {
    require(circuit_->admit(what.at), "an open circuit is not observed");
    circuit_->discard(what.at);
  }
  if (ledger.hedge != policy::HedgeOutcome::refused) return;
  if (ledger.hedge_refusal == Reason::host_paused) require(is_paused(what.at), "a ready host is asked");
  if (ledger.hedge_refusal == Reason::circuit_open) {
    require(circuit_ && !circuit_->admit(what.at), "a working host is asked");
  }
}

// Updates the pause and the circuit from the outcome of an attempt.
void HostLaws::hear(const Happening& what, Instant admitted, bool stale, bool other_runs) {
  const auto* responded = std::get_if<Responded>(&what.outcome);
  if (responded != nullptr && responded->hints.retry_after && route_.retry.retry_after.honour &&
      route_.retry.on.lists(what.outcome)) {
    const Instant asked = what.at + std::min(*responded->hints.retry_after, route_.retry.retry_after.maximum);
    pause_ = pause_ ? std::max(*pause_, asked) : asked;
  }
  if (!circuit_) return;
  const auto* failed = std::get_if<Failed>(&what.outcome);
  // The circuit ignores an attempt that the upstream gave back unprocessed, and one that failed because the
  // upstream does not speak HTTP/2 (row M85).
  const bool is_ignored = failed != nullptr && (policy::is_fault_of_ours(*failed) || failed->unprocessed ||
                                                failed->cause == policy::Cause::not_http2);
  const bool broke_beside_a_copy = failed != nullptr && what.report.reused && other_runs;
  // The outcome of an attempt on a stale connection is not counted, because the outcome of its retry is
  // counted instead.
  if (stale) return;
  if (is_ignored || broke_beside_a_copy) {
    circuit_->discard(admitted);
  } else if (responded != nullptr && responded->status < 500) {
    circuit_->succeeded(what.at, admitted);
  } else {
    circuit_->failed(what.at, admitted);
  }
}

void HostLaws::at_end(Instant now, policy::Circuit* circuit, double spent, std::size_t paid,
                      std::size_t decisions) {
  if (circuit != nullptr && circuit->state(now) == policy::Circuit::State::half_open) {
    require(circuit->admit(now), "no probe outlives its request");
  }
  if (!route_.budget || route_.budget->window < std::chrono::hours(100)) return;
  const auto started = static_cast<double>(paid);
  const bool observes = route_.mode == policy::Mode::observe;
  require(observes ? spent <= static_cast<double>(decisions) : std::abs(spent - started) < 0.5,
          "the budget pays for started retries and for nothing else");
}

}  // namespace reprise::simulation
