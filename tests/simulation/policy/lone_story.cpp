#include "tests/simulation/policy/lone_story.hpp"

#include "tests/simulation/policy/draw.hpp"
#include "tests/support/laws.hpp"

namespace reprise::simulation {
namespace {

using policy::Deliver;
using policy::Fail;

void plant(Flaw flaw, LoneStory& story) {
  policy::RoutePolicy& route = story.scene.policy;
  switch (flaw) {
    case Flaw::body_called_held:
      for (play::Step& step : story.script) step.held = true;
      return;
    case Flaw::called_idempotent: story.scene.facts.idempotent = policy::Idempotency::yes; return;
    case Flaw::called_active: route.mode = policy::Mode::active; return;
    case Flaw::budget_withheld: route.budget.reset(); return;
    case Flaw::signature_hidden: story.scene.facts.signed_until.reset(); return;
    case Flaw::deadline_lifted:
      if (route.retry.deadline) *route.retry.deadline += std::chrono::seconds(30);
      return;
    case Flaw::one_attempt_more:
      if (route.retry.max_attempts) ++*route.retry.max_attempts;
      return;
    case Flaw::hint_halved:
      for (play::Step& step : story.script) {
        auto* response = std::get_if<policy::Responded>(&step.outcome);
        if (response != nullptr && response->hints.retry_after) *response->hints.retry_after /= 2;
      }
      return;
    case Flaw::rest_is_the_rest:
      for (play::Step& step : story.script) step.differs = false;
      return;
    case Flaw::none:
    case Flaw::circuit_withheld:
    case Flaw::pause_withheld: return;
  }
}

play::Played run(const LoneStory& story, Flaw flaw, policy::Dice& dice) {
  if (flaw == Flaw::none) return play::run(story.scene, story.script, dice);
  LoneStory told = story;
  plant(flaw, told);
  return play::run(told.scene, told.script, dice);
}

Ending ending(const play::Played& played) {
  Ending found = Ending::responded;
  for (const play::Event& event : played.events) {
    for (const policy::Action& action : event.actions) {
      const auto* fail = std::get_if<Fail>(&action);
      if (fail != nullptr) found = fail->gateway_timeout ? Ending::timed_out : Ending::failed;
      if (std::holds_alternative<policy::Cut>(action)) found = Ending::cut;
      if (std::holds_alternative<policy::Leave>(action)) found = Ending::left;
    }
  }
  return found;
}

std::uint64_t hash(const play::Played& played) {
  EventHash hash;
  for (const play::Event& event : played.events) {
    hash.add(static_cast<std::uint64_t>(event.kind));
    hash.add(event.number);
    hash.add(event.at);
    hash.add(event.actions);
    hash.add(static_cast<std::uint64_t>(event.reason));
  }
  return hash.value();
}

}  // namespace

void draw(std::uint64_t seed, LoneStory& story) {
  Chance scene(seed, Purpose::scene);
  story.scene.facts = draw_facts(scene, play::epoch);
  policy::RoutePolicy& route = story.scene.policy;
  draw_route(scene, route);
  route.signature_sigv4 = story.scene.facts.signed_until.has_value();
  route.budget = policy::BudgetPolicy{};
  if (scene.one_in(4)) route.budget.reset();
  // The budget is never refilled, so it allows `retries` rounded down. The 0.5 keeps rounding errors from
  // changing that number.
  const double retries = static_cast<double>(scene.below(4)) + 0.5;
  if (scene.one_in(2)) route.budget = policy::BudgetPolicy{0, retries / 1e6, std::chrono::seconds(1'000'000)};
  Chance steps(seed, Purpose::steps);
  const Swarm swarm(steps);
  draw_script(steps, swarm, story.script);
}

Judged judge(const LoneStory& story, Flaw flaw, policy::Dice& dice, CoverageMarks* marks) {
  const play::Played played = run(story, flaw, dice);
  if (marks != nullptr) {
    marks->note(played.ledger);
    marks->note(ending(played));
    for (const play::Event& event : played.events) marks->note(event.actions);
  }
  return {play::first_broken_law(story.scene, story.script, played), hash(played)};
}

std::string transcript(const LoneStory& story, Flaw flaw, policy::Dice& dice) {
  return play::transcript(run(story, flaw, dice), story.script);
}

}  // namespace reprise::simulation
