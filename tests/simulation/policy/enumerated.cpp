#include "tests/simulation/policy/enumerated.hpp"

#include <array>
#include <chrono>

namespace reprise::simulation {
namespace {

using namespace std::chrono_literals;
using play::fails;
using play::status;
using play::Step;
using policy::Cause;
using policy::Stage;

constexpr unsigned most_attempts = 5;
constexpr std::uint64_t outcomes = 12;

/// State of the request's body during the attempts.
enum class Body : std::uint8_t {
  held,  ///< held whole
  /// Held; an attempt that fails before it gets a response body has sent no byte of its request.
  unsent,
  let_go,        ///< the body is too long to hold
  let_go_later,  ///< the body becomes too long to hold during the second attempt
};
constexpr std::uint64_t bodies = 4;
constexpr std::uint64_t idempotencies = 2;

std::array<Step, outcomes> every_outcome() {
  return {status(200),
          status(200).body_breaks(play::Breaking::mid_way),
          status(409),
          status(421).reused(),
          status(503),
          status(503).retry_after(2s),
          status(503).retry_after(2h),
          play::refused,
          play::reset,
          play::closed.reused(),
          play::timed_out,
          fails(Stage::body, Cause::truncated)};
}

std::array<play::Scene, idempotencies> scenes() {
  const auto with_limits = [](const play::Scene& scene) { return scene.attempts(most_attempts).budget(9); };
  return {with_limits(play::post()), with_limits(play::put())};
}

void lean_on(Body body, std::size_t attempt, Step& step) {
  const auto* failed = std::get_if<policy::Failed>(&step.outcome);
  if (body == Body::unsent && failed != nullptr && failed->stage < Stage::body)
    step.sent = policy::Sent::nothing;
  step.held = body == Body::held || body == Body::unsent || (body == Body::let_go_later && attempt == 0);
}

std::uint64_t sequences_of(unsigned attempts) {
  std::uint64_t count = 1;
  for (unsigned i = 0; i < attempts; ++i) count *= outcomes;
  return count;
}

std::uint64_t sequences() {
  std::uint64_t count = 0;
  for (unsigned attempts = 1; attempts <= most_attempts; ++attempts) count += sequences_of(attempts);
  return count;
}

}  // namespace

std::uint64_t enumerated_count() { return sequences() * bodies * idempotencies; }

void enumerate(std::uint64_t number, LoneStory& story) {
  static const std::array<Step, outcomes> steps = every_outcome();
  static const std::array<play::Scene, idempotencies> both = scenes();
  static const std::uint64_t in_all = sequences();
  story.scene = both[number / in_all / bodies];
  const Body body = static_cast<Body>(number / in_all % bodies);
  std::uint64_t sequence = number % in_all;
  unsigned attempts = 1;
  while (sequence >= sequences_of(attempts)) sequence -= sequences_of(attempts++);
  story.script.resize(attempts);
  for (std::size_t i = 0; i < attempts; ++i, sequence /= outcomes) {
    story.script[i] = steps[sequence % outcomes];
    lean_on(body, i, story.script[i]);
  }
}

}  // namespace reprise::simulation
