#include "tests/simulation/policy/host_world.hpp"

#include <algorithm>

namespace reprise::simulation {

using play::Breaking;
using play::Interruption;
using policy::Actions;
using policy::Failed;
using policy::Responded;
using Kind = Happening::Kind;

namespace {

constexpr std::uint64_t too_many = 100'000;  // limit of events in one story
constexpr Duration body_time = std::chrono::milliseconds(10);
constexpr unsigned typical_responses = 30;

}  // namespace

HostWorld::Visitor::Visitor(const HostStory& judged, const HostStory& told, std::size_t index,
                            policy::HostShare share, policy::ObservedLatency* latency)
    : visit(told.visits[index]),
      exchange(told.route, visit.facts, share, play::epoch + visit.at, latency),
      laws(judged.route, judged.visits[index], play::epoch + visit.at) {}

const play::Step& HostWorld::Visitor::step(unsigned number) const {
  return visit.steps[std::min<std::size_t>(std::max(number, 1U), visit.steps.size()) - 1];
}

void HostWorld::Visitor::keep() {
  if (responded == 0) return;
  const play::Keeping keeping = step(responded).keeping;
  if (keeping == play::Keeping::whole) {
    kept = true;
    exchange.response_kept();
    laws.response_kept();
  }
  if (keeping == play::Keeping::dropped) {
    exchange.response_dropped();
    laws.response_dropped();
  }
}

HostWorld::HostWorld(const HostStory& judged, const HostStory& told, policy::Dice& dice, CoverageMarks* marks,
                     std::string* tale)
    : dice_(dice), marks_(marks), tale_(tale), laws_(judged), now_(play::epoch) {
  if (told.route.budget) budget_.emplace(*told.route.budget);
  if (told.route.circuit) circuit_.emplace(*told.route.circuit);
  if (told.pause > Duration::zero()) pause_.ask(play::epoch + told.pause);
  for (unsigned i = 0; circuit_ && i < told.failures; ++i) circuit_->failed(play::epoch, play::epoch);
  if (told.usual > Duration::zero()) latency_.emplace();
  for (unsigned i = 0; latency_ && i < typical_responses; ++i) latency_->add(told.usual);
  const policy::HostShare share{budget_ ? &*budget_ : nullptr, circuit_ ? &*circuit_ : nullptr, &pause_};
  for (std::size_t i = 0; i < told.visits.size(); ++i) {
    visitors_.push_back(std::make_unique<Visitor>(judged, told, i, share, latency_ ? &*latency_ : nullptr));
    come(Kind::arrived, play::epoch + told.visits[i].at, i, 0);
  }
}

Judged HostWorld::run() {
  const double before = budget_ ? budget_->left(now_) : 0;
  std::string_view broken;
  while (!coming_.empty() && broken.empty()) {
    happen(take_next());
    broken = order_ > too_many ? "a story has an end" : first_broken();
  }
  std::size_t paid = 0;
  std::size_t decisions = 0;
  for (const auto& visitor : visitors_) {
    if (broken.empty() && !visitor->exchange.over()) broken = "every request ends";
    paid += visitor->laws.paid();
    decisions += visitor->laws.decisions();
  }
  if (broken.empty()) {
    laws_.at_end(now_, circuit_ ? &*circuit_ : nullptr, budget_ ? before - budget_->left(now_) : 0, paid,
                 decisions);
    broken = laws_.broken();
  }
  if (marks_ != nullptr) note_ends();
  return {broken, hash_.value()};
}

std::string_view HostWorld::first_broken() const {
  for (const auto& visitor : visitors_) {
    if (!visitor->laws.broken().empty()) return visitor->laws.broken();
  }
  return laws_.broken();
}

void HostWorld::come(Kind kind, Instant at, std::size_t visitor, unsigned number, Interruption what) {
  coming_.push_back({kind, at, order_++, visitor, number, what});
}

HostWorld::Coming HostWorld::take_next() {
  const auto next =
      std::min_element(coming_.begin(), coming_.end(), [](const Coming& one, const Coming& other) {
        return one.at != other.at ? one.at < other.at : one.order < other.order;
      });
  const Coming taken = *next;
  *next = coming_.back();
  coming_.pop_back();
  return taken;
}

void HostWorld::happen(const Coming& coming) {
  Visitor& visitor = *visitors_[coming.visitor];
  // Ignores the timer of an earlier wait if a new wait has begun.
  if (coming.kind == Kind::wait_ended && coming.number != visitor.waits && visitor.waiting) return;
  now_ = coming.at;
  const Happening what = describe(coming, visitor);
  const Actions actions = tell(coming, what, visitor);
  if (actions.size() > 0) visitor.waiting = play::waits(actions);
  visitor.laws.after(what, actions, visitor.exchange);
  laws_.after(what, actions, visitor.exchange, visitor.laws, circuit_ ? &*circuit_ : nullptr, pause_);
  hash_.add(coming.order);
  hash_.add(coming.at);
  hash_.add(actions);
  hash_.add(static_cast<std::uint64_t>(visitor.exchange.ledger().reason));
  if (marks_ != nullptr) marks_->note(actions);
  if (tale_ != nullptr) write(what, actions, coming);
  obey(actions, coming);
}

Happening HostWorld::describe(const Coming& coming, const Visitor& visitor) const {
  Happening what;
  what.kind = coming.kind;
  what.at = coming.at;
  what.number = coming.number;
  what.interruption = coming.interruption;
  const play::Step& step = visitor.step(coming.number);
  const bool ends = coming.kind == Kind::attempt_ended;
  const bool asked_fresh = ends && (visitor.fresh[coming.number - 1] || visitor.resumes[coming.number - 1]);
  what.report = {step.on_reused && !asked_fresh, ends ? step.sent : policy::Sent::maybe,
                 visitor.begun <= visitor.visit.held_for, visitor.visit.facts.idempotent, coming.number};
  what.outcome = step.outcome;
  what.differs = step.differs;
  if (coming.kind == Kind::body_ended) {
    const bool whole = visitor.kept && coming.number == visitor.responded;
    what.how = whole ? Breaking::no : play::breaking(visitor.visit.steps, coming.number);
  }
  return what;
}

Actions HostWorld::tell(const Coming& coming, const Happening& what, Visitor& visitor) {
  policy::Exchange& exchange = visitor.exchange;
  switch (coming.kind) {
    case Kind::arrived: return exchange.begin(now_, dice_);
    case Kind::wait_ended: return exchange.waited(now_);
    case Kind::hedge_due: return exchange.hedge_due(what.report, now_);
    case Kind::attempt_ended: return end_attempt(coming, what, visitor);
    case Kind::body_ended: return end_body(what, visitor);
    case Kind::interrupted: break;
  }
  if (coming.interruption == Interruption::fin) return exchange.client_finished(now_);
  if (coming.interruption == Interruption::rst) return exchange.client_reset(now_);
  return exchange.shutdown(now_);
}

Actions HostWorld::end_attempt(const Coming& coming, const Happening& what, Visitor& visitor) {
  policy::Exchange& exchange = visitor.exchange;
  const auto* response = std::get_if<Responded>(&what.outcome);
  if (response == nullptr) return exchange.failed(what.report, std::get<Failed>(what.outcome), now_, dice_);
  const bool resumes = visitor.resumes[coming.number - 1];
  if (resumes && (response->status == 200 || response->status == 206)) {
    return what.differs ? exchange.differed(what.report, *response, now_)
                        : exchange.continued(what.report, *response, now_);
  }
  if (!resumes) {
    visitor.responded = coming.number;
    visitor.kept = false;
  }
  return exchange.responded(what.report, *response, now_, dice_);
}

Actions HostWorld::end_body(const Happening& what, Visitor& visitor) {
  if (visitor.exchange.over()) return {};
  if (what.how == Breaking::no) {
    visitor.exchange.delivered();
    return {};
  }
  const policy::Break broken{policy::Cause::truncated, what.how != Breaking::is_permanent,
                             what.how == Breaking::mid_way, false, visitor.visit.facts.signed_until};
  return visitor.exchange.body_broke(broken, now_, dice_);
}

void HostWorld::obey(const Actions& actions, const Coming& coming) {
  for (const policy::Action& action : actions) {
    std::visit([&](const auto& asked) { obey(asked, coming.visitor); }, action);
  }
}

void HostWorld::obey(const policy::Start& start, std::size_t visitor) {
  begin_attempt(start.number, start.fresh, false, visitor);
}

void HostWorld::obey(const policy::Resume& resume, std::size_t visitor) {
  begin_attempt(resume.number, true, true, visitor);
}

void HostWorld::relay(unsigned number, std::size_t visitor) {
  const Interruption what = visitors_[visitor]->step(number).in_body;
  if (what != Interruption::none) come(Kind::interrupted, now_ + body_time / 2, visitor, number, what);
  come(Kind::body_ended, now_ + body_time, visitor, number);
}

void HostWorld::begin_attempt(unsigned number, bool fresh, bool resume, std::size_t index) {
  Visitor& visitor = *visitors_[index];
  visitor.begun = number;
  visitor.fresh.push_back(fresh);
  visitor.resumes.push_back(resume);
  const play::Step& step = visitor.step(number);
  if (step.in_attempt != Interruption::none) {
    come(Kind::interrupted, now_ + step.lasting / 2, index, number, step.in_attempt);
  }
  come(Kind::attempt_ended, now_ + step.lasting, index, number);
  const auto hedge = visitor.exchange.hedge_at();
  if (hedge) come(Kind::hedge_due, *hedge, index, number);
}

void HostWorld::begin_wait(Instant until, std::size_t index) {
  Visitor& visitor = *visitors_[index];
  const play::Step& step = visitor.step(visitor.begun);
  visitor.keep();
  ++visitor.waits;
  if (step.in_wait != Interruption::none) {
    come(Kind::interrupted, now_ + (until - now_) / 2, index, visitor.begun, step.in_wait);
  }
  const bool before_the_first = visitor.begun == 0;
  come(Kind::wait_ended, before_the_first ? until : until + step.late, index, visitor.waits);
}

void HostWorld::write(const Happening& what, const Actions& actions, const Coming& coming) {
  static constexpr std::string_view interruptions[] = {"", "FIN", "RST", "shutdown"};
  play::Event event;
  event.at = what.at;
  event.number = what.number;
  event.reason = visitors_[coming.visitor]->exchange.ledger().reason;
  std::string line =
      play::milliseconds(what.at - play::epoch) + " request " + std::to_string(coming.visitor + 1) + ": ";
  switch (what.kind) {
    case Kind::arrived: line += "arrives"; break;
    case Kind::interrupted: line += interruptions[static_cast<std::size_t>(what.interruption)]; break;
    case Kind::attempt_ended:
      line += "attempt " + std::to_string(what.number) + (what.report.reused ? " reused" : "") + " -> " +
              play::text(what.outcome);
      break;
    case Kind::hedge_due: line += "a copy is due"; break;
    case Kind::wait_ended: line += "the wait is over"; break;
    case Kind::body_ended: line += what.how == Breaking::no ? "the body ends" : "the body breaks"; break;
  }
  *tale_ += line + " | " + play::text(actions, event) + "\n";
}

void HostWorld::note_ends() const {
  for (const auto& visitor : visitors_) {
    marks_->note(visitor->exchange.ledger());
    marks_->note(visitor->laws.ending());
  }
}

}  // namespace reprise::simulation
