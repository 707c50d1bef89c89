#include "proxy/tools/explain/explanation.hpp"

#include <algorithm>

#include "proxy/http/message/metadata_service.hpp"
#include "proxy/policy/decision/gates.hpp"
#include "proxy/policy/match/ascii.hpp"
#include "proxy/policy/match/methods.hpp"
#include "proxy/tools/explain/rehearsal.hpp"

namespace reprise::tools {
namespace {

using namespace policy;

// Returns true if the assumed outcome is a response body that breaks after a part of it was sent to the
// client. Returns false if the route holds bytes back, because the body is then assumed to break within the
// held bytes. The first message of a gRPC call is never held.
bool breaks_after_release(const Question& question, const RoutePolicy& policy) {
  const auto* failed = std::get_if<Failed>(&question.outcome);
  const HoldPolicy* const hold = hold_for(policy, Responded{200, {}});
  const bool holds = hold != nullptr && hold->bytes > 0 && !question.request.is_call;
  return failed != nullptr && failed->stage == Stage::body && !holds;
}

std::string without_slash(std::string_view path) {
  return std::string(path.starts_with('/') ? path.substr(1) : path);
}

Course course_of(const Rehearsed& done) {
  const RehearsedStep& first = done.steps.front();
  const RehearsedStep& last = done.steps.back();
  return {first.attempt,        first.ended - head_at, first.budget_left, first.verdict, last.attempt,
          last.ended - head_at, last.verdict,          done.goes_on(),    done.end,      done.ledger};
}

// Returns true if the request body is short enough to be held in memory. Otherwise, the body may be held on
// disk.
bool is_for_memory(const Question& question, const RoutePolicy& policy) {
  return question.body_bytes <= policy.replay_memory_bytes;
}

bool is_over_total(const Question& question, const RoutePolicy& policy) {
  return question.body_bytes >
         (is_for_memory(question, policy) ? question.total_memory : question.total_disk);
}

// Judges whether the request is idempotent, as the proxy does. If the request head is not sufficient for a
// verdict, the body decides, provided that the body is held in memory.
Judgement judge_question(const Question& question, const RoutePolicy& policy) {
  if (question.tunnel) return {Idempotency::yes, nullptr};
  RequestView request = question.request;
  if (question.leaving != nullptr) request.fields = question.leaving;
  const Judgement by_head = judge_with_condition(policy.idempotent, request, nullptr);
  const bool in_memory = question.first.replayable && is_for_memory(question, policy) &&
                         question.body_bytes <= question.total_memory;
  if (by_head.verdict != Idempotency::undecided || !in_memory || question.body == nullptr) return by_head;
  return judge_with_condition(policy.idempotent, request, question.body);
}

// Returns true if the request body can be sent again. A body that exceeds the replay limits can be sent again
// only if no attempt has begun to send it, because reprise does not keep the bytes that were sent.
bool is_held(const Question& question, const Facts& facts, const RoutePolicy& policy) {
  const auto* failed = std::get_if<Failed>(&question.outcome);
  const bool sending_began = failed == nullptr || failed->stage >= Stage::send;
  const bool over_http2 = uses_http2(policy, question.bound || facts.changes_protocol, question.http2);
  const auto most =
      std::max<std::uint64_t>(policy.replay_memory_bytes, disk_share(facts, policy, over_http2));
  const bool again = !question.bound && question.body_bytes <= most && !is_over_total(question, policy);
  return question.first.replayable && (!sending_began || again);
}

// Returns the outcome of the attempt as decide() sees it. For a response whose body breaks later, this is a
// 200, because the head was good. If no response arrives, the route's settings decide which timer ends the
// attempt.
Outcome assumed_outcome(const Question& question, const RoutePolicy& policy, const Facts& facts, bool held) {
  if (breaks_after_release(question, policy)) return Responded{200, {}};
  if (!is_timeout(question.outcome)) return question.outcome;
  const HeadLimit limit = head_limit(policy, is_repeatable(facts, policy, held), head_at, std::nullopt);
  return Failed{std::get<Failed>(question.outcome).stage, limit.cause};
}

// Returns true if no timer ends the assumed attempt: no response arrives, and neither the route nor the
// deadline bounds the wait for it. The deadline bounds only an upload that makes no progress.
bool is_endless_wait(const Question& question, const RoutePolicy& policy, const Explanation& explanation) {
  if (!is_timeout(question.outcome) || std::get<Failed>(question.outcome).stage == Stage::send) return false;
  const bool repeatable = is_repeatable(explanation.facts, policy, explanation.held);
  return head_limit(policy, repeatable, head_at, std::nullopt).at == no_end;
}

std::size_t count_waits(const Rehearsed& done) { return done.steps.size() - (done.goes_on() ? 0 : 1); }

/// Returns the bounds of the first `count` waits, and of the starts of the attempts after them. Simulates
/// without a budget and a circuit. The lowest dice rolls then give the shortest waits and the earliest
/// starts; the highest dice rolls give the longest waits and the latest starts. The deadline limits the
/// longest waits and the latest starts.
std::vector<PlannedWait> bounds_of_waits(const RoutePolicy& policy, const Assumed& assumed,
                                         std::size_t count) {
  if (count == 0) return {};
  LowestDice low_dice;
  HighestDice high_dice;
  RoutePolicy untimed_policy = policy;
  untimed_policy.retry.deadline.reset();
  Assumed untimed = assumed;
  untimed.facts.signed_until.reset();
  untimed.facts.call_deadline.reset();
  const std::vector<RehearsedStep> low = rehearse(policy, assumed, low_dice, nullptr, count).steps;
  const std::vector<RehearsedStep> high = rehearse(untimed_policy, untimed, high_dice, nullptr, count).steps;
  Instant horizon = assumed.facts.signed_until.value_or(Instant::max());
  if (policy.retry.deadline) horizon = std::min(horizon, head_at + *policy.retry.deadline);
  horizon = std::min(horizon, assumed.facts.call_deadline.value_or(Instant::max()));
  std::vector<PlannedWait> waits;
  for (std::size_t i = 0; i < count; ++i) {
    const Duration highest = std::min(high[i].verdict.delay, horizon - low[i].ended);
    const Instant latest = std::min(high[i].ended + high[i].verdict.delay, horizon);
    waits.push_back({low[i].attempt.number, low[i].verdict.delay, highest,
                     low[i].ended + low[i].verdict.delay - head_at, latest - head_at});
  }
  return waits;
}

std::vector<PassedOver> passed_over(const RouteTable& routes, const RequestView& request, std::size_t found) {
  std::vector<PassedOver> passed;
  for (std::size_t i = 0; i < found; ++i) passed.push_back({i, routes[i].match.first_mismatch(request)});
  return passed;
}

// Returns true if a broken response to this request could be resumed. Assumes that the response head has all
// fields that a resume requires.
bool may_be_continued(const Question& question) {
  PartHead best;
  best.status = 200;
  best.end = BodyEnd::length;
  best.length = 1;
  best.entity_tag = R"("1")";
  return !question.tunnel && !question.bound && Download::can_begin(question.download, best);
}

/// Simulates the request until it ends or has had `most` attempts. The request has a new budget and a closed
/// circuit, which no other request uses.
Rehearsed whole_course(const RoutePolicy& policy, const Assumed& assumed, Dice& dice,
                       unsigned most = most_attempts) {
  const HostParts parts = host_parts(policy);
  std::optional<Budget> budget;
  if (parts.budget) budget.emplace(*policy.budget);
  std::optional<Circuit> circuit;
  if (parts.circuit) circuit.emplace(*policy.circuit);
  return rehearse(policy, assumed, dice, {budget ? &*budget : nullptr, circuit ? &*circuit : nullptr}, most);
}

Assumed assumed_of(const Question& question, const RoutePolicy& policy, const Explanation& explanation) {
  Assumed assumed{explanation.facts, explanation.outcome, question.first, std::nullopt};
  assumed.first.replayable = explanation.held;
  if (is_broken_response(explanation.outcome) || breaks_after_release(question, policy)) {
    assumed.breaks = Break{std::get<Failed>(question.outcome).cause};
    assumed.breaks->signed_until = question.signature_end;
  }
  return assumed;
}

// Finds the deadline of the retries: the route's, or the call's own if that is not later (row M87).
void find_deadline(const RoutePolicy& policy, Explanation& explanation) {
  explanation.deadline = policy.retry.deadline;
  const auto own = explanation.facts.call_deadline;
  explanation.deadline_of_call = own && (!policy.retry.deadline || *own - head_at <= *policy.retry.deadline);
  if (explanation.deadline_of_call) explanation.deadline = *own - head_at;
}

void find_resume(const Question& question, const RoutePolicy& policy, Assumed assumed,
                 Explanation& explanation) {
  explanation.resume_wait = wait_range(policy.retry.backoff, 0, Duration::zero());
  if (!assumed.breaks || !may_be_continued(question)) return;
  assumed.breaks->continuable = true;
  LowestDice dice;
  const Rehearsed done = whole_course(policy, assumed, dice);
  explanation.resumes = done.resumes();
  if (std::holds_alternative<Cut>(done.end)) explanation.not_resumed = done.ledger.reason;
}

}  // namespace

Explanation explain(const RouteTable& routes, const Question& question) {
  Explanation explanation;
  explanation.route = routes.find(question.request);
  explanation.passed_over = passed_over(routes, question.request, explanation.route);
  const RoutePolicy& policy = routes.policy_for(explanation.route, question.request);
  if (question.request.is_call) explanation.call = without_slash(question.request.path);
  explanation.late_status = question.late_status.has_value();
  explanation.judgement = judge_question(question, policy);
  explanation.facts = question.facts;
  find_deadline(policy, explanation);
  explanation.bound = question.bound;
  const bool needs_http1 = question.bound || question.facts.changes_protocol;
  explanation.http2 = !question.tunnel && policy::uses_http2(policy, needs_http1, question.http2);
  explanation.metadata = http::is_metadata_service(policy::without_last_dot(question.request.host));
  explanation.facts.copyable = question.facts.copyable && !question.tunnel && !question.bound;
  explanation.facts.safe_method = is_safe_method(question.request.method);
  // An undecided verdict counts as not idempotent: only the request body could decide, and the body cannot be
  // read.
  const bool repeatable = explanation.judgement.verdict == Idempotency::yes;
  explanation.facts.idempotent = repeatable ? Idempotency::yes : Idempotency::no;
  explanation.held = is_held(question, explanation.facts, policy);
  explanation.over_total = !explanation.held && !question.bound && is_over_total(question, policy);
  explanation.outcome = assumed_outcome(question, policy, explanation.facts, explanation.held);
  explanation.hangs = is_endless_wait(question, policy, explanation);
  const unsigned most = explanation.hangs ? 1 : most_attempts;

  const Assumed assumed = assumed_of(question, policy, explanation);
  LowestDice low_dice;
  HighestDice high_dice;
  const Rehearsed low = whole_course(policy, assumed, low_dice, most);
  const Rehearsed high = whole_course(policy, assumed, high_dice, most);
  explanation.lowest = course_of(low);
  explanation.highest = course_of(high);
  const std::size_t count = explanation.hangs ? 0 : std::max(count_waits(low), count_waits(high));
  explanation.waits_left_out = count > most_waits;
  explanation.waits = bounds_of_waits(policy, assumed, std::min(count, most_waits));
  find_resume(question, policy, assumed, explanation);
  explanation.hedge = rehearse_hedge(policy, assumed);
  return explanation;
}

}  // namespace reprise::tools
