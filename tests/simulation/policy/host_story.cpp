#include "tests/simulation/policy/host_story.hpp"

#include <array>

#include "tests/simulation/policy/draw.hpp"
#include "tests/support/play.hpp"

namespace reprise::simulation {
namespace {

using namespace std::chrono_literals;
using policy::Duration;

std::optional<policy::BudgetPolicy> draw_budget(Chance& chance) {
  if (chance.one_in(3)) return std::nullopt;
  if (chance.one_in(3)) return policy::BudgetPolicy{};
  const double retries = static_cast<double>(chance.below(8)) + 0.5;
  return policy::BudgetPolicy{0, retries / 1e6, std::chrono::seconds(1'000'000)};
}

void draw_host(Chance& chance, HostStory& story) {
  static constexpr std::array whiles{policy::WhilePaused::go, policy::WhilePaused::wait,
                                     policy::WhilePaused::wait, policy::WhilePaused::fail};
  policy::RoutePolicy& route = story.route;
  draw_route(chance, route);
  route.budget = draw_budget(chance);
  route.circuit.reset();
  story.failures = 0;
  if (chance.one_in(2)) {
    const auto open = std::chrono::milliseconds(50 + chance.below(5000));
    route.circuit = policy::CircuitPolicy{0.5, 10s, static_cast<unsigned>(2 + chance.below(4)), open};
    story.failures = static_cast<unsigned>(chance.below(5));
  }
  route.while_paused = chance.pick(whiles);
  story.pause = chance.one_in(4) ? Duration(std::chrono::milliseconds(chance.below(2000))) : Duration::zero();
  route.hedge.reset();
  story.usual = Duration::zero();
  if (!chance.one_in(2)) return;
  route.hedge = policy::HedgePolicy{std::chrono::milliseconds(chance.below(250))};
  if (!chance.one_in(4)) return;
  route.hedge->after.reset();
  story.usual = std::chrono::milliseconds(chance.below(200));
}

}  // namespace

void draw(std::uint64_t seed, HostStory& story) {
  Chance scene(seed, Purpose::scene);
  draw_host(scene, story);
  Chance visits(seed, Purpose::visits);
  story.visits.resize(1 + visits.below(4));
  Chance steps(seed, Purpose::steps);
  const Swarm swarm(steps);
  for (Visit& visit : story.visits) {
    visit.at = std::chrono::milliseconds(visits.below(visits.one_in(4) ? 10'000 : 300));
    visit.facts = draw_facts(visits, play::epoch + visit.at);
    // In one case of four, the body is dropped after 0 to 3 attempts. A dropped body is never held again.
    visit.held_for = visits.one_in(4) ? static_cast<unsigned>(visits.below(4)) : 1000;
    draw_script(steps, swarm, visit.steps);
  }
}

void plant(Flaw flaw, HostStory& story) {
  switch (flaw) {
    case Flaw::body_called_held:
      for (Visit& visit : story.visits) visit.held_for = 1000;
      return;
    case Flaw::called_idempotent:
      for (Visit& visit : story.visits) visit.facts.idempotent = policy::Idempotency::yes;
      return;
    case Flaw::called_active: story.route.mode = policy::Mode::active; return;
    case Flaw::budget_withheld: story.route.budget.reset(); return;
    case Flaw::signature_hidden:
      for (Visit& visit : story.visits) visit.facts.signed_until.reset();
      return;
    case Flaw::deadline_lifted:
      if (story.route.retry.deadline) *story.route.retry.deadline += 30s;
      return;
    case Flaw::one_attempt_more:
      if (story.route.retry.max_attempts) ++*story.route.retry.max_attempts;
      return;
    case Flaw::circuit_withheld: story.route.circuit.reset(); return;
    case Flaw::pause_withheld: story.route.while_paused = policy::WhilePaused::go; return;
    case Flaw::none:
    case Flaw::hint_halved:
    case Flaw::rest_is_the_rest: return;
  }
}

}  // namespace reprise::simulation
