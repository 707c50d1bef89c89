// Fuzz target: checks the invariants of decide() and of the backoff (draw_wait) on arbitrary input.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "proxy/policy/decision/decide.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/support/repeat_oracle.hpp"

namespace reprise::fuzz {
namespace {

using namespace policy;
using namespace std::chrono_literals;

/// Dice that always roll the same number, capped to the range, and count the rolls.
class OneNumberDice final : public Dice {
 public:
  explicit OneNumberDice(std::uint64_t number) : number_(number) {}
  std::uint64_t roll(std::uint64_t highest) override {
    ++rolled;
    return std::min(number_, highest);
  }
  unsigned rolled = 0;

 private:
  std::uint64_t number_;
};

Duration duration(Input& input, Duration highest) {
  static constexpr std::array<Duration, 8> usual{0ns, 1ns, 1ms, 250ms, 1s, 5s, 60s, 1h};
  const Duration chosen =
      input.flip()
          ? input.of(usual)
          : Duration(static_cast<Duration::rep>(input.upto(static_cast<std::uint64_t>(highest.count()))));
  return std::min(chosen, highest);
}

template <typename Value>
std::optional<Value> perhaps(Input& input, Value value) {
  return input.flip() ? std::optional(value) : std::nullopt;
}

Outcome outcome(Input& input) {
  if (input.flip()) {
    return Failed{input.any<Stage>(), input.any<Cause>()};
  }
  static constexpr std::array statuses{200, 308, 400, 408, 421, 429, 500, 503};
  Responded response{input.flip() ? input.of(statuses) : static_cast<int>(200 + input.upto(399)), {}};
  response.hints.retry_after = perhaps(input, duration(input, Duration::max() - 1ns));
  response.hints.aws_retry_after = perhaps(input, duration(input, Duration::max() - 1ns));
  response.hints.said_no = input.upto(7) == 0;
  response.body_listed = input.upto(3) == 0;
  return response;
}

RetryOn retry_on(Input& input) {
  RetryOn on = RetryOn::defaults();
  on.connect = input.flip();
  on.tls = input.flip();
  on.reset = input.flip();
  on.timeout = input.flip();
  on.truncated = input.flip();
  for (auto more = input.upto(4); more > 0; --more) on.statuses.flip(200 + input.upto(399));
  return on;
}

// Draws a policy. Its values cover at least the range that the configuration allows.
RoutePolicy route_policy(Input& input) {
  static constexpr std::array<double, 6> growths{1, 1.5, 2, 10, 1e3, 1e308};
  RoutePolicy policy;
  policy.mode = input.any<Mode>();
  policy.retry.on = retry_on(input);
  policy.retry.max_attempts = perhaps(input, static_cast<unsigned>(1 + input.upto(9)));
  policy.retry.nested = input.any<Nested>();
  policy.retry.retry_after = {input.flip(), duration(input, 24h)};
  policy.retry.backoff = {duration(input, 24h), input.of(growths), duration(input, 24h), input.any<Jitter>()};
  return policy;
}

struct Case {
  explicit Case(Input& input)
      : facts{input.any<Idempotency>(), input.flip(), input.flip(), {}},
        ended(outcome(input)),
        policy(route_policy(input)),
        now(duration(input, 24h * 36500)) {
    attempt.charged = 1 + static_cast<unsigned>(input.flip() ? input.upto(9) : input.upto(1U << 31U));
    attempt.number = attempt.charged + static_cast<unsigned>(input.upto(1));
    attempt.reused = input.flip();
    attempt.sent = input.any<Sent>();
    attempt.replayable = input.flip();
    attempt.stale_retry_used = input.flip();
    attempt.wait = duration(input, 25h);
    deadline = perhaps(input, now + duration(input, 24h) - duration(input, 24h));
    facts.signed_until = perhaps(input, now + duration(input, 24h) - duration(input, 24h));
    budget_left = static_cast<double>(input.upto(3)) / 2;
    number = input.word();
    if (input.flip()) policy.idempotent.kind = IdempotencyRule::Kind::any;
    facts.create_only = input.flip();
    facts.one_time = input.flip();
    facts.changes_protocol = input.flip();
    attempt.outcome_unknown = input.flip();
    policy.ambiguous = input.any<Ambiguous>();
    if (input.flip()) policy.retry.refused.statuses.set(400 + input.upto(199));
    if (auto* responded = std::get_if<Responded>(&ended))
      responded->body_refused = responded->body_listed && input.flip();
  }

  Verdict decided(Dice& dice) const {
    return decide(facts, attempt, ended, policy, now, deadline, dice, budget_left);
  }

  Facts facts;
  Attempt attempt;
  Outcome ended;
  RoutePolicy policy;
  Instant now;
  std::optional<Instant> deadline;
  double budget_left = 0;
  std::uint64_t number = 0;
};

bool nothing_sent(const Case& c) {
  const auto* failed = std::get_if<Failed>(&c.ended);
  return failed != nullptr && (failed->stage < Stage::send || c.attempt.sent == Sent::nothing);
}

void judge_stale(const Case& c, const Verdict& verdict, unsigned rolled) {
  const auto* responded = std::get_if<Responded>(&c.ended);
  const bool misdirected = responded != nullptr && responded->status == 421;
  law(verdict.delay == 0ns && rolled == 0, "a stale retry is at once, without chance");
  law(c.attempt.reused && !c.attempt.stale_retry_used, "one stale retry, of a reused connection");
  law(misdirected || nothing_sent(c) || play::may_follow_loss(c.facts, c.policy, c.facts.idempotent),
      "a stale retry repeats no effect");
  law(nothing_sent(c) || c.attempt.sent == Sent::nothing || !c.facts.one_time,
      "a credential that is valid once is sent once");
}

void judge_retry(const Case& c, const Verdict& verdict) {
  const auto* responded = std::get_if<Responded>(&c.ended);
  const RetryPolicy& retry = c.policy.retry;
  law(c.policy.mode == Mode::active, "only an active route retries");
  law(retry.on.lists(c.ended) || play::says_nothing_was_done(c.facts, c.policy, c.ended),
      "only what is listed is retried");
  const bool known = responded != nullptr && c.facts.idempotent == Idempotency::yes;
  law(nothing_sent(c) || play::says_nothing_was_done(c.facts, c.policy, c.ended) || known ||
          play::may_follow_loss(c.facts, c.policy, c.facts.idempotent),
      "no effect is repeated");
  law(nothing_sent(c) || !c.facts.one_time, "a credential that is valid once is sent once");
  law(!retry.max_attempts || c.attempt.charged < *retry.max_attempts, "attempts are bounded");
  law(!c.facts.nested || retry.nested == Nested::allow, "a nested retry is refused where asked");
  law(c.budget_left >= 1, "a retry costs one of the budget");
  const WaitRange range = wait_range(retry.backoff, c.attempt.charged - 1, c.attempt.wait);
  law(verdict.delay >= range.lowest, "never sooner than the backoff");
  Duration longest = range.highest;
  if (responded != nullptr) {
    law(!responded->hints.said_no, "a no is obeyed");
    if (retry.retry_after.honour) {
      const Duration asked = responded->hints.retry_after.value_or(0ns);
      law(verdict.delay >= asked, "never sooner than the hint");
      law(asked <= retry.retry_after.maximum, "never later than the route allows");
      if (responded->hints.aws_retry_after) longest += 5s;
      longest = std::max(longest, asked);
    }
  }
  law(verdict.delay <= longest, "never later than backoff and hints");
}

void judge_decision(const Case& c) {
  OneNumberDice dice(c.number);
  const Verdict verdict = c.decided(dice);
  law(dice.rolled <= 1, "dice are rolled at most once");
  law(verdict.retry == is_retry(verdict.reason), "the reason fits the verdict");
  OneNumberDice again(c.number);
  const Verdict repeated = c.decided(again);
  law(repeated.reason == verdict.reason && repeated.delay == verdict.delay,
      "the same case, the same verdict");
  if (!verdict.retry) return;
  law(c.attempt.replayable, "only a held body is sent again");
  law(!c.deadline || c.now + verdict.delay <= *c.deadline, "never a wait past the deadline");
  law(!c.facts.signed_until || c.now + verdict.delay <= *c.facts.signed_until,
      "nothing after the signature has run out");
  if (verdict.reason == Reason::stale_connection) return judge_stale(c, verdict, dice.rolled);
  judge_retry(c, verdict);
}

void judge_wait(const Case& c) {
  const Backoff& backoff = c.policy.retry.backoff;
  const unsigned n = c.attempt.charged - 1;
  const WaitRange range = wait_range(backoff, n, c.attempt.wait);
  OneNumberDice dice(c.number);
  const Duration wait = draw_wait(backoff, n, c.attempt.wait, dice);
  law(range.lowest >= 0ns && range.lowest <= range.highest, "a range is a range");
  law(range.highest <= backoff.maximum, "no wait is above the maximum");
  law(wait >= range.lowest && wait <= range.highest, "the range contains the wait");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::Input input(bytes, size);
  const reprise::fuzz::Case one(input);
  reprise::fuzz::judge_decision(one);
  reprise::fuzz::judge_wait(one);
  return 0;
}
