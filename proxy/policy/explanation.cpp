#include "proxy/policy/explanation.hpp"

#include <algorithm>
#include <limits>

namespace reprise::policy {
namespace {

// The head of the explained request; every time is told from here.
constexpr Instant head_at{};

class LowestDice final : public Dice {
 public:
  std::uint64_t roll(std::uint64_t) override { return 0; }
};

class HighestDice final : public Dice {
 public:
  std::uint64_t roll(std::uint64_t highest) override { return highest; }
};

/// What stays the same through all attempts.
struct Case {
  const RoutePolicy& policy;
  Facts facts;
  Outcome outcome;
  Attempt first;
  std::optional<Instant> deadline;
  bool breaks = false;  ///< the body of a good answer ends early
};

struct Step {
  Attempt attempt;
  Instant ended{};
  double budget_left = 0;
  Verdict verdict;
};

bool is_timeout(const Outcome& outcome) {
  const auto* failed = std::get_if<Failed>(&outcome);
  return failed != nullptr && failed->stage >= Stage::send && failed->stage < Stage::body &&
         (failed->cause == Cause::attempt_timeout || failed->cause == Cause::response_timeout);
}

// Where the route holds bytes back, the break is taken to come in these.
bool breaks_after_release(const Outcome& outcome, const RoutePolicy& policy) {
  const auto* failed = std::get_if<Failed>(&outcome);
  const bool holds = policy.hold && policy.hold->bytes > 0 && policy.mode != Mode::off;
  return failed != nullptr && failed->stage == Stage::body && !holds;
}

/// Walks attempt by attempt through decide(), with the bookkeeping of Exchange.
class Walk {
 public:
  Walk(const Case& asked, Dice& dice, Budget* budget) : case_(asked), dice_(dice), budget_(budget) {
    attempt_ = asked.first;
    unsent_ = is_unsent(asked.outcome, asked.first.sent == Sent::nothing);
    const auto* failed = std::get_if<Failed>(&asked.outcome);
    const bool kept_here = unsent_ && is_fault_of_ours(failed->cause);
    if (budget_ != nullptr && !kept_here) budget_->deposit(now_);
    attempt_.wait = Duration::zero();
    for (unsigned n = 0; n + 1 < asked.first.charged; ++n) {
      if (budget_ != nullptr && !unsent_) budget_->withdraw(now_);
      attempt_.wait = draw_wait(case_.policy.retry.backoff, n, attempt_.wait, dice_);
      now_ += attempt_.wait;
    }
  }

  /// One attempt to its verdict; after a yes the walk stands at the start of the next.
  Step next() {
    const Instant ended = end_of_attempt();
    const double left = budget_ == nullptr ? std::numeric_limits<double>::infinity() : budget_->left(ended);
    Step step{attempt_, ended, left, {}};
    step.verdict =
        decide(case_.facts, attempt_, case_.outcome, case_.policy, ended, case_.deadline, dice_, left);
    // Nothing can be played again once part of the answer is out.
    if (case_.breaks && step.verdict.reason == Reason::success)
      step.verdict.reason = Reason::response_started;
    if (!step.verdict.retry) return step;
    ++attempt_.number;
    now_ = ended + step.verdict.delay;
    attempt_.wait = step.verdict.delay;
    if (step.verdict.reason == Reason::stale_connection) {
      attempt_.stale_retry_used = true;
      attempt_.reused = false;
    } else {
      ++attempt_.charged;
      // What ends without having sent a byte is given back at its end.
      if (budget_ != nullptr && !unsent_) budget_->withdraw(ended);
    }
    return step;
  }

 private:
  Instant end_of_attempt() const {
    if (!is_timeout(case_.outcome)) return now_;
    const bool repeatable = is_repeatable(case_.facts, case_.policy, attempt_.replayable);
    return std::max(now_, head_limit(case_.policy, repeatable, now_, case_.deadline).at);
  }

  const Case& case_;
  Dice& dice_;
  Budget* budget_;
  Attempt attempt_;
  bool unsent_ = false;  ///< no attempt sends a byte
  Instant now_ = head_at;
};

std::vector<Step> walk(const Case& asked, Dice& dice, Budget* budget, std::size_t most) {
  Walk steps(asked, dice, budget);
  std::vector<Step> taken;
  do {
    taken.push_back(steps.next());
  } while (taken.back().verdict.retry && taken.size() < most);
  return taken;
}

Course course_of(const std::vector<Step>& steps) {
  const Step& first = steps.front();
  const Step& last = steps.back();
  return {first.attempt, first.ended - head_at, first.budget_left, first.verdict,
          last.attempt,  last.ended - head_at,  last.verdict,      last.verdict.retry};
}

// Judged as the data path does: first on the head, then, where that leaves it open, on a body held in memory.
Judgement judge_question(const Question& question, const RoutePolicy& policy) {
  if (question.tunnel) return {Idempotency::yes, nullptr};
  RequestView request = question.request;
  if (question.leaving != nullptr) request.fields = question.leaving;
  const Judgement by_head = judge_with_ground(policy.idempotent, request, nullptr);
  const bool in_memory = question.first.replayable && question.body_bytes <= policy.replay_memory_bytes;
  if (by_head.verdict != Idempotency::undecided || !in_memory || question.body == nullptr) return by_head;
  return judge_with_ground(policy.idempotent, request, question.body);
}

// A body over the limit is let go of once it is being sent.
bool is_held(const Question& question, const Facts& facts, const RoutePolicy& policy) {
  const auto* failed = std::get_if<Failed>(&question.outcome);
  const bool sending_began = failed == nullptr || failed->stage >= Stage::send;
  const auto most = std::max<std::uint64_t>(policy.replay_memory_bytes, disk_share(facts, policy));
  return question.first.replayable && (!sending_began || question.body_bytes <= most);
}

// The answer of a body that breaks was a good one up to its head. Which timer ends an attempt without an
// answer is for the route to say.
Outcome assumed_outcome(const Question& question, const RoutePolicy& policy, const Facts& facts, bool held) {
  if (breaks_after_release(question.outcome, policy)) return Answered{200, {}};
  if (!is_timeout(question.outcome)) return question.outcome;
  const HeadLimit limit = head_limit(policy, is_repeatable(facts, policy, held), head_at, std::nullopt);
  return Failed{std::get<Failed>(question.outcome).stage, limit.cause};
}

std::size_t count_waits(const std::vector<Step>& steps) {
  return steps.size() - (steps.back().verdict.retry ? 0 : 1);
}

/// The bounds of the first `count` waits over all rolls. Without a budget the lowest rolls wait least and
/// start soonest, the highest ones wait longest and start last; the deadline then cuts what is too long for
/// it.
std::vector<PlannedWait> bounds_of_waits(const Case& asked, std::size_t count) {
  if (count == 0) return {};
  LowestDice low_dice;
  HighestDice high_dice;
  Case untimed = asked;
  untimed.deadline.reset();
  untimed.facts.signed_until.reset();
  const std::vector<Step> low = walk(asked, low_dice, nullptr, count);
  const std::vector<Step> high = walk(untimed, high_dice, nullptr, count);
  const Instant horizon =
      std::min(asked.deadline.value_or(Instant::max()), asked.facts.signed_until.value_or(Instant::max()));
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

// A GET without a body of its own and without a condition on its range (row E8).
bool may_resume(const Question& question, const RoutePolicy& policy, const Explanation& told) {
  const RequestView& request = question.request;
  const bool conditional = request.fields != nullptr && request.fields->has("If-Range", "");
  const Verdict& last = told.lowest.last_verdict;
  const bool cut_as_504 =
      last.reason == Reason::deadline_too_near && policy.retry.out_of_time == OutOfTime::gateway_timeout;
  // Delivered is what is not repeated any more, be its break in what is held back or its status listed.
  const bool breaks = is_broken_answer(told.outcome) || breaks_after_release(question.outcome, policy);
  const bool delivered = breaks && !last.retry && !cut_as_504;
  return delivered && !question.tunnel && request.method == "GET" && !conditional &&
         question.body_bytes == 0 && policy.mode == Mode::active && policy.resume.enabled &&
         told.facts.idempotent == Idempotency::yes &&
         !(told.facts.nested && policy.retry.nested == Nested::refuse);
}

/// A course with its steps, drawing on a budget of its own.
std::vector<Step> whole_walk(const Case& asked, Dice& dice) {
  std::optional<Budget> budget;
  if (asked.policy.budget) budget.emplace(*asked.policy.budget);
  return walk(asked, dice, budget ? &*budget : nullptr, most_attempts);
}

}  // namespace

Explanation explain(const RouteTable& routes, const Question& question) {
  Explanation told;
  told.route = routes.find(question.request);
  told.passed_over = passed_over(routes, question.request, told.route);
  const RoutePolicy& policy = routes[told.route].policy;
  told.judgement = judge_question(question, policy);
  told.facts = question.facts;
  told.facts.safe_method = is_safe_method(question.request.method);
  // Whoever waits for a body that cannot be looked into waits for ever.
  const bool repeatable = told.judgement.verdict == Idempotency::yes;
  told.facts.idempotent = repeatable ? Idempotency::yes : Idempotency::no;
  told.held = is_held(question, told.facts, policy);
  told.outcome = assumed_outcome(question, policy, told.facts, told.held);

  Case asked{policy,         told.facts,   told.outcome,
             question.first, std::nullopt, breaks_after_release(question.outcome, policy)};
  asked.first.replayable = told.held;
  if (policy.retry.deadline) asked.deadline = head_at + *policy.retry.deadline;
  LowestDice low_dice;
  HighestDice high_dice;
  const std::vector<Step> low = whole_walk(asked, low_dice);
  const std::vector<Step> high = whole_walk(asked, high_dice);
  told.lowest = course_of(low);
  told.highest = course_of(high);
  const std::size_t count = std::max(count_waits(low), count_waits(high));
  told.waits_left_out = count > most_waits;
  told.waits = bounds_of_waits(asked, std::min(count, most_waits));
  told.resumes = may_resume(question, policy, told);
  told.resume_wait = wait_range(policy.retry.backoff, 0, Duration::zero());
  return told;
}

}  // namespace reprise::policy
