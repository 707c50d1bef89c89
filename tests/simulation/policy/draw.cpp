#include "tests/simulation/policy/draw.hpp"

#include <array>

#include "tests/simulation/policy/failures.hpp"

namespace reprise::simulation {
namespace {

using namespace std::chrono_literals;
using play::Breaking;
using play::Interruption;
using play::Keeping;
using play::Step;
using policy::Duration;
using policy::Stage;

constexpr std::array statuses{200, 200, 206, 301, 401, 404, 408, 409, 410, 412,
                              421, 422, 429, 500, 501, 502, 503, 503, 504};
// Numbers of fault kinds, as Swarm::has expects them. Lower numbers are for failures and statuses.
enum Fault : std::size_t { hints = 60, breaks, interruptions, slow };

policy::Backoff draw_backoff(Chance& chance) {
  static constexpr std::array<Duration, 5> initials{0ms, 1ms, 250ms, 1000ms, 64000ms};
  static constexpr std::array growths{1.0, 1.5, 2.0, 10.0};
  return {chance.pick(initials), chance.pick(growths), std::chrono::milliseconds(1 + chance.below(64'000)),
          chance.any<policy::Jitter>()};
}

void draw_response(Chance& chance, const Swarm& swarm, Step& step) {
  std::size_t kind = chance.below(statuses.size());
  for (int tries = 0; tries < 4 && !swarm.has(kind); ++tries) kind = chance.below(statuses.size());
  policy::Responded response{statuses[kind], {}};
  if (chance.one_in(32)) response.status = static_cast<int>(200 + chance.below(400));
  response.body_listed = chance.one_in(12);
  response.body_refused = response.body_listed && chance.one_in(2);
  if (swarm.has(hints) && chance.one_in(2)) {
    response.hints.said_no = chance.one_in(6);
    if (chance.one_in(2)) response.hints.retry_after = std::chrono::milliseconds(1 + chance.below(20'000));
    if (chance.one_in(8)) response.hints.retry_after = 2h;
    if (chance.one_in(4)) response.hints.aws_retry_after = std::chrono::milliseconds(chance.below(20'000));
  }
  step.outcome = response;
}

void draw_failure(Chance& chance, const Swarm& swarm, Step& step) {
  const auto failures = possible_failures();
  std::size_t kind = chance.below(failures.size());
  for (int tries = 0; tries < 4 && !swarm.has(16 + kind); ++tries) kind = chance.below(failures.size());
  policy::Failed failed = failures[kind];
  const auto refused = chance.any<policy::RefusedStream>();
  failed.unprocessed = policy::proves_unprocessed(failed.cause, refused);
  step.outcome = failed;
  const bool may_be_unsent = failed.stage == Stage::send || failed.stage == Stage::await_head;
  const bool unsent = failed.stage < Stage::send || failed.unprocessed || (may_be_unsent && chance.one_in(3));
  if (unsent) step.sent = policy::Sent::nothing;
}

void draw_step(Chance& chance, const Swarm& swarm, Step& step) {
  step = Step{};
  if (chance.one_in(2)) {
    draw_response(chance, swarm, step);
  } else {
    draw_failure(chance, swarm, step);
  }
  step.on_reused = chance.one_in(2);
  step.held = !chance.one_in(16);
  step.lasting = std::chrono::milliseconds(chance.below(300));
  if (swarm.has(slow) && chance.one_in(4)) step.lasting = std::chrono::milliseconds(chance.below(90'000));
  step.keeping = chance.any<Keeping>();
  if (swarm.has(slow) && chance.one_in(4)) step.late = std::chrono::milliseconds(chance.below(20'000));
  if (swarm.has(breaks) && chance.one_in(2)) step.breaks = chance.any_but_first<Breaking>();
  step.differs = chance.one_in(12);
  if (!swarm.has(interruptions)) return;
  if (chance.one_in(6)) step.in_attempt = chance.any_but_first<Interruption>();
  if (chance.one_in(6)) step.in_wait = chance.any_but_first<Interruption>();
  if (chance.one_in(6)) step.in_body = chance.any_but_first<Interruption>();
}

// Makes resumed downloads likelier: each needs several fitting responses in a row.
void draw_download(Chance& chance, Step& step) {
  if (chance.one_in(3)) return;
  step.outcome = policy::Responded{chance.one_in(2) ? 200 : 206, {}};
  step.breaks = chance.any<Breaking>();
  step.differs = chance.one_in(6);
}

}  // namespace

void draw_route(Chance& chance, policy::RoutePolicy& route) {
  static constexpr std::array<Duration, 8> deadlines{0s, 1s, 1s, 10s, 10s, 60s, 60s, 60s};
  route.mode = policy::Mode::active;
  if (chance.one_in(12)) route.mode = policy::Mode::observe;
  if (chance.one_in(16)) route.mode = policy::Mode::off;
  route.retry.max_attempts = static_cast<unsigned>(chance.below(7) + 1);
  if (chance.one_in(5)) route.retry.max_attempts.reset();
  route.retry.deadline = chance.pick(deadlines);
  if (route.retry.max_attempts && chance.one_in(4)) route.retry.deadline.reset();
  route.retry.out_of_time = chance.one_in(3) ? policy::OutOfTime::gateway_timeout : policy::OutOfTime::last;
  route.retry.nested = chance.one_in(3) ? policy::Nested::refuse : policy::Nested::allow;
  route.retry.on.truncated = chance.one_in(2);
  route.retry.backoff = draw_backoff(chance);
  route.retry.retry_after = {!chance.one_in(4), std::chrono::seconds(chance.below(100))};
  if (chance.one_in(4)) route.retry.refused.statuses.set(429);
  if (chance.one_in(8)) route.retry.refused.statuses.set(409);
  route.ambiguous = chance.any<policy::Ambiguous>();
  if (chance.one_in(2)) route.idempotent.kind = policy::IdempotencyRule::Kind::any;
  route.resume.enabled = !chance.one_in(8);
  route.resume.max_attempts = static_cast<unsigned>(1 + chance.below(4));
}

policy::Facts draw_facts(Chance& chance, policy::Instant begin) {
  static constexpr std::array judgements{policy::Idempotency::no,  policy::Idempotency::no,
                                         policy::Idempotency::yes, policy::Idempotency::yes,
                                         policy::Idempotency::yes, policy::Idempotency::undecided};
  policy::Facts facts{chance.pick(judgements), chance.one_in(2), chance.one_in(6)};
  if (chance.one_in(6)) facts.signed_until = begin + std::chrono::milliseconds(chance.below(20'000));
  facts.create_only = chance.one_in(6);
  facts.one_time = chance.one_in(12);
  facts.changes_protocol = chance.one_in(12);
  facts.copyable = !facts.one_time && !facts.changes_protocol && !facts.create_only;
  return facts;
}

void draw_script(Chance& chance, const Swarm& swarm, play::Script& script) {
  script.resize(1 + chance.below(8));
  const bool download = chance.one_in(4);
  for (Step& step : script) {
    draw_step(chance, swarm, step);
    if (download) draw_download(chance, step);
  }
  // The last step repeats forever. It must take time, so that a route without an attempt limit reaches its
  // deadline.
  if (script.back().late == Duration::zero()) script.back().late = 1s;
}

}  // namespace reprise::simulation
