#include "tests/simulation/policy/visit_laws.hpp"

#include <algorithm>

#include "tests/support/repeat_oracle.hpp"

namespace reprise::simulation {

using policy::Actions;
using policy::Failed;
using policy::Idempotency;
using policy::Responded;
using Kind = Happening::Kind;

namespace {

template <typename Wanted>
bool contains(const Actions& actions) {
  return std::any_of(actions.begin(), actions.end(),
                     [](const policy::Action& action) { return std::holds_alternative<Wanted>(action); });
}

bool has_bytes(const Responded& response) { return response.status == 200 || response.status == 206; }

// x-amz-retry-after lengthens a wait by at most five seconds, and never shortens it.
Duration stretched(Duration wait, const policy::Hints& hints) {
  const Duration asked = hints.aws_retry_after.value_or(Duration::zero());
  return std::max(wait, std::min(asked, wait + std::chrono::seconds(5)));
}

}  // namespace

VisitLaws::VisitLaws(const policy::RoutePolicy& route, const Visit& visit, Instant head_at)
    : route_(route), visit_(visit), head_at_(head_at) {
  if (route.retry.deadline) deadline_ = head_at + *route.retry.deadline;
}

std::size_t VisitLaws::running() const {
  return static_cast<std::size_t>(
      std::count_if(tried_.begin(), tried_.end(), [](const Tried& one) { return one.running; }));
}

void VisitLaws::after(const Happening& what, const Actions& actions, const policy::Exchange& exchange) {
  heard_ = judged_hedge_ = false;
  stopped_.clear();
  if (over_) {
    require(actions.size() == 0 && exchange.over() && exchange.ledger().size() == entries_,
            "no action after the end");
    return;
  }
  if (what.kind == Kind::interrupted) take_interruption(what.interruption);
  if (what.kind == Kind::attempt_ended) take_end(what, actions);
  if (what.kind == Kind::body_ended) take_body_end(what);
  if (what.kind == Kind::hedge_due) ++decisions_;
  judged_hedge_ = exchange.ledger().hedge != hedge_;
  hedge_ = exchange.ledger().hedge;
  for (const policy::Action& action : actions) judge(action, what, exchange);
  over_ = exchange.over();
  if (over_) judge_end(exchange);
}

void VisitLaws::take_interruption(play::Interruption what) {
  finished_ = finished_ || what == play::Interruption::fin;
  reset_ = reset_ || what == play::Interruption::rst;
  stopping_ = stopping_ || what == play::Interruption::shutdown;
}

void VisitLaws::take_end(const Happening& what, const Actions& actions) {
  Tried& one = tried_[what.number - 1];
  require(one.running || actions.size() == 0, "news of a stopped attempt asks for nothing");
  if (!one.running) return;
  heard_ = true;
  ++decisions_;
  one.running = false;
  one.ended = what.at;
  one.outcome = what.outcome;
  one.report = what.report;
  last_ended_ = what.number;
  one.given_back = one.paid && policy::is_unsent(what.outcome, what.report.sent == policy::Sent::nothing) &&
                   what.number == tried_.size();
  paid_ -= one.given_back ? 1 : 0;
  if (one.resume) return;
  const bool goes_on = contains<policy::Wait>(actions) || contains<policy::Start>(actions);
  const bool broken_for_good = policy::is_broken_response(what.outcome) && running() == 0 && !goes_on;
  if (broken_for_good || std::holds_alternative<Responded>(what.outcome)) {
    at_hand_ = what.number;
    whole_ = false;
  }
}

void VisitLaws::take_body_end(const Happening& what) {
  require(is_out(), "a body follows its head");
  if (what.how == play::Breaking::no) return;
  ++decisions_;
  continuable_ = what.how != play::Breaking::is_permanent;
  if (what.how == play::Breaking::mid_way) in_vain_ = 0;
  tried_[body_of_ - 1].outcome = Failed{policy::Stage::body, policy::Cause::truncated};
  tried_[body_of_ - 1].ended = what.at;
}

void VisitLaws::judge(const policy::Action& action, const Happening& what, const policy::Exchange& exchange) {
  if (const auto* start = std::get_if<policy::Start>(&action)) return judge_start(*start, what);
  if (const auto* resume = std::get_if<policy::Resume>(&action)) return judge_resume(*resume, what);
  if (const auto* wait = std::get_if<policy::Wait>(&action)) return judge_wait(*wait, what);
  if (const auto* deliver = std::get_if<policy::Deliver>(&action)) return judge_delivery(*deliver, exchange);
  if (const auto* cancel = std::get_if<policy::Cancel>(&action)) return judge_cancel(*cancel, what);
  if (const auto* more = std::get_if<policy::Continue>(&action)) {
    const bool rest = what.kind == Kind::attempt_ended && what.number == more->number && !what.differs &&
                      tried_[more->number - 1].resume && response(more->number) != nullptr &&
                      has_bytes(*response(more->number));
    require(rest, "only the rest of a download is appended to it");
    body_of_ = more->number;
    return;
  }
  if (const auto* fail = std::get_if<policy::Fail>(&action)) {
    const bool late = exchange.ledger().reason == policy::Reason::deadline_too_near &&
                      route_.retry.out_of_time == policy::OutOfTime::gateway_timeout;
    ending_ = fail->gateway_timeout ? Ending::timed_out : Ending::failed;
    require(!is_out(), "there is one response");
    const bool lost = at_hand_ != 0 && keeps_lost_failure(at_hand_);
    require(at_hand_ == 0 || late || lost, "the client gets the last response at hand");
    require(lost == (exchange.ledger().reason == policy::Reason::ambiguous_outcome),
            "an unknown outcome stays unknown");
    require(fail->gateway_timeout == (at_hand_ != 0 && late), "504 stands for a response that came too late");
  }
  if (std::holds_alternative<policy::Cut>(action)) {
    ending_ = Ending::cut;
    require(is_out(), "only what has begun can be cut");
  }
  if (std::holds_alternative<policy::Leave>(action)) {
    ending_ = Ending::left;
    require(reset_, "nobody is left who is still there");
  }
}

void VisitLaws::judge_start(const policy::Start& start, const Happening& what) {
  require(start.number == tried_.size() + 1, "attempts are numbered in turn");
  require(!is_out(), "nothing is played again once its response is out");
  require(!stopping_ && !reset_ && (!finished_ || start.number == 1),
          "nothing starts after the client left or the shutdown began");
  if (start.number > 1) {
    judge_again(what);
    if (start.fresh) judge_stale();
    if (what.kind == Kind::hedge_due) judge_hedge(what);
  }
  stale_ += start.fresh ? 1 : 0;
  charged_ += start.fresh ? 0 : 1;
  const auto most = route_.retry.max_attempts;
  const unsigned beyond = most == 1U ? stale_ : 0;
  require(stale_ <= 1 && (!most || charged_ + stale_ <= *most + beyond), "attempts are bounded");
  if (start.fresh) wait_ = Duration::zero();
  // The retry of a stale connection is charged only if the attempt that it replaces was charged and then
  // refunded.
  const bool inherits = start.fresh && tried_[last_ended_ - 1].given_back;
  begin(what, start.fresh, false);
  if (inherits || (!start.fresh && start.number > 1)) pay();
}

void VisitLaws::pay() {
  tried_.back().paid = true;
  ++paid_;
}

// Checks what must hold for every attempt except the first.
void VisitLaws::judge_again(const Happening& what) {
  const bool hedge = what.kind == Kind::hedge_due;
  require(running() == (hedge ? 1U : 0U), "two attempts run only where the second is a copy");
  require(is_held(), "only a held body is played again");
  require(!deadline_ || what.at <= *deadline_, "no attempt starts after the deadline");
  require(!visit_.facts.signed_until || what.at <= *visit_.facts.signed_until,
          "nothing is sent again after the signature has run out");
  const bool sent = std::any_of(tried_.begin(), tried_.end(),
                                [](const Tried& one) { return one.report.sent == policy::Sent::maybe; });
  require(!sent || !visit_.facts.one_time, "a credential that is valid once is sent once");
  const bool effect =
      std::any_of(tried_.begin(), tried_.end(), [&](const Tried& one) { return may_have_effect(one); });
  require(!effect || visit_.facts.idempotent == Idempotency::yes, "no effect is repeated");
  const bool lost = std::any_of(tried_.begin(), tried_.end(), [](const Tried& one) { return is_lost(one); });
  require(!lost || play::by_rule(route_) || !visit_.facts.create_only,
          "a create-only request is not repeated after a lost response");
  if (!at_hand_ || !whole_) at_hand_ = 0;
  const bool fresh = what.kind == Kind::attempt_ended;
  if (fresh || hedge) return;
  require(route_.mode == policy::Mode::active, "only an active route retries");
  require(last_ended_ != 0 &&
              (route_.retry.on.lists(tried_[last_ended_ - 1].outcome) || is_refused(tried_[last_ended_ - 1])),
          "only what the route lists is retried");
  const Responded* refusal = response(last_ended_);
  require(refusal == nullptr || !refusal->hints.said_no, "a no is obeyed");
  require(!visit_.facts.nested || route_.retry.nested == policy::Nested::allow,
          "a nested retry is refused where asked");
}

void VisitLaws::judge_stale() {
  const Tried& one = tried_[last_ended_ - 1];
  const auto* failed = std::get_if<Failed>(&one.outcome);
  if (failed != nullptr && failed->unprocessed)
    return require(one.report.sent == policy::Sent::nothing, "what was not processed had no effect");
  require(one.report.reused, "only a reused connection can be stale");
  if (failed == nullptr) {
    return require(std::get<Responded>(one.outcome).status == 421, "only a 421 is our pool's doing");
  }
  const bool before_response =
      failed->stage == policy::Stage::send || failed->stage == policy::Stage::await_head;
  const bool ended = failed->cause == policy::Cause::closed || failed->cause == policy::Cause::reset ||
                     failed->cause == policy::Cause::unacknowledged;
  require(before_response && ended, "a stale connection ends before any response byte");
  const bool repeatable = visit_.facts.idempotent == Idempotency::yes;
  require(one.report.sent == policy::Sent::nothing || repeatable, "a stale retry repeats no effect");
}

void VisitLaws::judge_hedge(const Happening& what) {
  require(route_.hedge && route_.mode == policy::Mode::active, "only a route that hedges gets a copy");
  require(tried_.size() == 1, "only the first attempt gets a copy");
  require(visit_.facts.idempotent == Idempotency::yes, "only what is safe to repeat gets a copy");
  require(!visit_.facts.nested || route_.retry.nested == policy::Nested::allow,
          "a nested retry is refused where asked");
  const Duration after = route_.hedge && route_.hedge->after ? *route_.hedge->after : Duration::zero();
  require(what.at >= tried_[0].started + after, "no copy before it is due");
}

void VisitLaws::begin(const Happening& what, bool fresh, bool resume) {
  Tried one;
  one.started = what.at;
  one.admitted = fresh ? tried_[last_ended_ - 1].admitted : what.at;
  one.fresh = fresh;
  one.resume = resume;
  tried_.push_back(one);
}

bool VisitLaws::may_have_effect(const Tried& one) const {
  if (one.running || one.cancelled) return true;
  const auto* responded = std::get_if<Responded>(&one.outcome);
  if (responded != nullptr && responded->status == 421 && one.report.reused) return false;
  if (is_refused(one)) return false;
  return one.report.sent == policy::Sent::maybe;
}

bool VisitLaws::is_refused(const Tried& one) const {
  return play::says_nothing_was_done(visit_.facts, route_, one.outcome);
}

bool VisitLaws::is_lost(const Tried& one) {
  const auto* failed = std::get_if<Failed>(&one.outcome);
  return failed != nullptr && !one.running && !one.cancelled && failed->cause != policy::Cause::cancelled &&
         one.report.sent == policy::Sent::maybe;
}

// Returns true if the client must get the failure of a lost attempt instead of the response to attempt
// `number`, because this response may only show that the lost attempt had its effect.
bool VisitLaws::keeps_lost_failure(unsigned number) const {
  const Responded* given = response(number);
  if (given == nullptr || visit_.facts.safe_method || !play::may_tell_of_repeat(given->status)) return false;
  if (!play::keeps_lost_failure(route_)) return false;
  const Instant known = tried_[number - 1].ended;
  return std::any_of(tried_.begin(), tried_.end(),
                     [&](const Tried& one) { return is_lost(one) && one.ended <= known; });
}

void VisitLaws::judge_resume(const policy::Resume& resume, const Happening& what) {
  require(resume.number == tried_.size() + 1, "attempts are numbered in turn");
  require(is_out() && running() == 0, "only what is out is resumed");
  require(!is_departed(), "nothing starts after the client left or the shutdown began");
  require(route_.mode == policy::Mode::active && route_.resume.enabled, "only where the route resumes");
  require(visit_.facts.idempotent == Idempotency::yes, "no effect is repeated");
  require(!visit_.facts.one_time, "a credential that is valid once is sent once");
  require(continuable_, "only what can be continued is");
  require(in_vain_ <= route_.resume.max_attempts, "attempts are bounded");
  require(!visit_.facts.signed_until || what.at <= *visit_.facts.signed_until,
          "nothing is sent again after the signature has run out");
  begin(what, false, true);
  pay();
}

void VisitLaws::judge_wait(const policy::Wait& wait, const Happening& what) {
  require(!is_departed() || tried_.empty(), "nothing starts after the client left or the shutdown began");
  require(wait.until >= what.at, "a wait ends after it began");
  require(is_out() || !deadline_ || wait.until <= *deadline_, "no wait ends after the deadline");
  require(running() == 0, "nobody waits while an attempt runs");
  if (what.kind != Kind::attempt_ended && what.kind != Kind::body_ended) return;
  require(!visit_.facts.signed_until || wait.until <= *visit_.facts.signed_until,
          "nothing is sent again after the signature has run out");
  judge_length(wait.until - what.at, what);
  wait_ = wait.until - what.at;
  in_vain_ += is_out() ? 1 : 0;
}

// Returns the hints for the wait. After a hedge, the responses to both attempts may request a pause. Each
// pause begins when its response arrives, and the pause that ends last applies.
policy::Hints VisitLaws::asked(const Happening& what) const {
  policy::Hints hints;
  if (what.kind != Kind::attempt_ended || !route_.retry.retry_after.honour) return hints;
  if (const Responded* own = response(what.number)) hints = own->hints;
  const bool copied = tried_.size() == 2 && tried_[1].started < tried_[0].ended;
  const unsigned other = copied ? 3 - what.number : 0;
  if (response(other) == nullptr) return hints;
  const auto left = [&](std::optional<Duration> pause) {
    return pause ? std::optional(std::max(*pause - (what.at - tried_[other - 1].ended), Duration::zero()))
                 : pause;
  };
  hints.retry_after = std::max(hints.retry_after, left(response(other)->hints.retry_after));
  hints.aws_retry_after = std::max(hints.aws_retry_after, left(response(other)->hints.aws_retry_after));
  return hints;
}

void VisitLaws::judge_length(Duration wait, const Happening& what) {
  const policy::Hints hints = asked(what);
  const unsigned n = is_out() ? in_vain_ : charged_ - 1;
  const Duration before = is_out() && in_vain_ == 0 ? Duration::zero() : wait_;
  const auto range = wait_range(route_.retry.backoff, n, before);
  const Duration hint = hints.retry_after.value_or(Duration::zero());
  require(hint <= route_.retry.retry_after.maximum, "no longer than the route allows");
  require(wait >= hint && wait >= stretched(range.lowest, hints), "never sooner than asked");
  require(wait <= std::max(hint, stretched(range.highest, hints)), "never later than backoff and hints");
}

void VisitLaws::judge_delivery(const policy::Deliver& deliver, const policy::Exchange& exchange) {
  require(!is_out(), "there is one response");
  require(deliver.number == at_hand_ && at_hand_ != 0, "the client gets the last response at hand");
  if (deliver.number == 0 || deliver.number > tried_.size()) return;
  require(!keeps_lost_failure(deliver.number), "an unknown outcome stays unknown");
  require(exchange.ledger().ambiguous == is_ambiguous(deliver.number),
          "a response that our own attempt may have caused is called ambiguous");
  body_of_ = deliver.number;
}

bool VisitLaws::is_ambiguous(unsigned number) const {
  const Responded* given = response(number);
  if (given == nullptr || visit_.facts.safe_method) return false;
  if (!play::may_tell_of_repeat(given->status)) return false;
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    const bool before = i + 1 < number || tried_[i].started < tried_[number - 1].ended;
    const bool sent = tried_[i].cancelled || tried_[i].report.sent == policy::Sent::maybe;
    if (i + 1 != number && before && sent) return true;
  }
  return false;
}

void VisitLaws::judge_cancel(const policy::Cancel& cancel, const Happening& what) {
  const bool known = cancel.number >= 1 && cancel.number <= tried_.size();
  require(known, "only what runs is stopped");
  if (!known) return;
  Tried& one = tried_[cancel.number - 1];
  if (!one.running) {
    return require(cancel.number == body_of_ && running() == 0, "only what runs is stopped");
  }
  one.running = false;
  one.cancelled = true;
  one.ended = what.at;
  stopped_.push_back(cancel.number);
}

void VisitLaws::judge_end(const policy::Exchange& exchange) {
  const policy::Ledger& ledger = exchange.ledger();
  entries_ = ledger.size();
  require(running() == 0, "no attempt outlives its request");
  require(ledger_fault(tried_, ledger).empty(), ledger_fault(tried_, ledger));
  if (ledger.empty()) return;
  const bool left_in_body = reset_ && is_out() && ledger.reason == policy::Reason::client_gone;
  require(left_in_body || ledger.reason == ledger.back().verdict.reason,
          "the ledger's end is its last verdict");
}

}  // namespace reprise::simulation
