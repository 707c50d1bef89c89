// Fuzz target: checks the invariants of tests/support/laws.hpp for an exchange with arbitrary events in
// arbitrary order.
#include <array>

#include "tests/fuzz/input.hpp"
#include "tests/support/laws.hpp"

namespace reprise::fuzz {
namespace {

using namespace play;
using namespace std::chrono_literals;

Duration up_to(Input& input, std::uint64_t milliseconds) {
  static constexpr std::array<std::uint64_t, 6> usual{0, 1, 250, 1000, 5000, 60'000};
  return std::chrono::milliseconds(input.flip() ? std::min(input.of(usual), milliseconds)
                                                : input.upto(milliseconds));
}

policy::RetryPolicy retry(Input& input) {
  static constexpr std::array deadlines{0s, 1s, 10s, 60s};
  static constexpr std::array growths{1.0, 1.5, 2.0, 10.0};
  policy::RetryPolicy retry;
  retry.max_attempts = static_cast<unsigned>(1 + input.upto(6));
  retry.deadline = input.of(deadlines);
  if (input.upto(7) == 0) retry.max_attempts.reset();
  if (retry.max_attempts && input.upto(3) == 0) retry.deadline.reset();
  if (input.flip()) retry.out_of_time = policy::OutOfTime::gateway_timeout;
  if (input.flip()) retry.nested = policy::Nested::refuse;
  retry.on.truncated = input.flip();
  if (input.upto(7) == 0) retry.on.connect = retry.on.reset = false;
  retry.backoff = {up_to(input, 64'000), input.of(growths), up_to(input, 64'000) + 1ms,
                   input.any<policy::Jitter>()};
  // On a route without a limit on attempts, only the deadline ends the exchange, so every wait must take
  // time.
  if (!retry.max_attempts) retry.backoff = {1s, 2.0, 30s, policy::Jitter::none};
  // With these waits, a deadline of 1 s allows slightly more attempts than a ledger keeps (row L25).
  if (!retry.max_attempts && retry.deadline == 1s) retry.backoff = {14ms, 1.0, 14ms, policy::Jitter::none};
  retry.retry_after = {input.flip(), up_to(input, 100'000)};
  return retry;
}

Scene scene(Input& input) {
  static constexpr std::array judgements{Idempotency::yes, Idempotency::no, Idempotency::undecided};
  Scene scene;
  scene.facts = {input.of(judgements), input.flip(), input.upto(3) == 0};
  scene.policy.retry = retry(input);
  scene.policy.mode = input.upto(3) == 0 ? input.any<policy::Mode>() : policy::Mode::active;
  scene.policy.resume.enabled = input.upto(7) != 0;
  scene.policy.resume.max_attempts = static_cast<unsigned>(1 + input.upto(3));
  if (input.upto(5) == 0) scene = scene.signed_until(epoch + up_to(input, 20'000));
  if (input.upto(3) == 0) return scene.no_budget();
  return input.flip() ? scene.budget(static_cast<unsigned>(input.upto(4))) : scene;
}

policy::Responded response(Input& input) {
  static constexpr std::array statuses{200, 206, 404, 409, 412, 421, 429, 500, 503};
  policy::Responded response{
      input.upto(3) != 0 ? input.of(statuses) : static_cast<int>(200 + input.upto(399)), {}};
  response.hints.said_no = input.upto(7) == 0;
  if (input.upto(3) == 0) response.hints.retry_after = up_to(input, 100'000) + 1ms;
  if (input.upto(7) == 0) response.hints.aws_retry_after = up_to(input, 20'000);
  response.body_listed = input.upto(7) == 0;
  return response;
}

Interruption interruption(Input& input) {
  return input.upto(15) == 0 ? input.any_but_first<Interruption>() : Interruption::none;
}

Step step(Input& input) {
  Step step;
  if (input.flip()) {
    step.outcome = response(input);
  } else {
    const auto stage = input.any<Stage>();
    step = fails(stage, input.any<Cause>());
    if (input.upto(3) == 0) step.sent = Sent::nothing;
  }
  step.on_reused = input.upto(3) == 0;
  step.held = input.upto(3) != 0;
  step.lasting = up_to(input, 90'000);
  step.keeping = input.any<Keeping>();
  if (input.upto(3) == 0) step.late = up_to(input, 20'000);
  if (input.upto(7) == 0) step.judged = input.flip() ? Idempotency::yes : Idempotency::no;
  if (input.upto(3) == 0) step.breaks = input.any_but_first<Breaking>();
  step.differs = input.upto(7) == 0;
  step.in_attempt = interruption(input);
  step.in_wait = interruption(input);
  step.in_body = interruption(input);
  return step;
}

void judge(Input& input) {
  const Scene where = scene(input);
  const std::uint64_t seed = input.word();
  Script script(1 + input.upto(5));
  for (Step& one : script) one = step(input);
  policy::SeededDice dice(seed);
  const Played played = run(where, script, dice);
  const std::string_view broken = first_broken_law(where, script, played);
  if (!broken.empty()) {
    std::fprintf(stderr, "not so: %.*s\n%s", static_cast<int>(broken.size()), broken.data(),
                 transcript(played, script).c_str());
    std::abort();
  }
  if (seed % 16 != 1) return;
  policy::SeededDice same(seed);
  law(transcript(run(where, script, same), script) == transcript(played, script),
      "the same dice, the same story");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  reprise::fuzz::Input input(bytes, size);
  reprise::fuzz::judge(input);
  return 0;
}
