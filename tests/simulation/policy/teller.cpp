#include "tests/simulation/policy/teller.hpp"

#include <stdexcept>

#include "tests/simulation/policy/host_world.hpp"
#include "tests/simulation/policy/purpose.hpp"
#include "tests/simulation/policy/shrink.hpp"

namespace reprise::simulation {
namespace {

constexpr std::uint64_t one_in_so_many_plays_twice = 100;

bool is_lone(std::uint64_t seed) { return Chance(seed, Purpose::kind).one_in(2); }

Judged judge_enumerated(const LoneStory& story, Flaw flaw, CoverageMarks* marks) {
  play::LoadedDice highest = play::LoadedDice::highest();
  return judge(story, flaw, highest, marks);
}

Judged judge_lone(const LoneStory& story, std::uint64_t seed, Flaw flaw, CoverageMarks* marks) {
  Chance waits(seed, Purpose::waits);
  return judge(story, flaw, waits, marks);
}

Judged judge_host(const HostStory& story, std::uint64_t seed, Flaw flaw, CoverageMarks* marks,
                  std::string* tale) {
  Chance waits(seed, Purpose::waits);
  if (flaw == Flaw::none) return HostWorld(story, story, waits, marks, tale).run();
  HostStory told = story;
  plant(flaw, told);
  return HostWorld(story, told, waits, marks, tale).run();
}

// Returns the transcript of a story. If the story breaks a law (invariant), adds the transcript of the
// simplest version found of this story that breaks the same law.
template <typename Story, typename Tell, typename Shrink>
std::string in_full(Story& story, Tell tell, Shrink shrink) {
  std::string text;
  const std::string_view law = tell(story, &text);
  if (law.empty()) return text + "laws broken: 0\n";
  text += "BROKEN: " + std::string(law) + "\n";
  while (shrink(story, [&] { return tell(story, nullptr) == law; })) {
  }
  std::string shortest;
  tell(story, &shortest);
  return text + "the shortest that was found:\n" + shortest;
}

template <typename Check>
bool shrink_host(HostStory& story, Check still_broken) {
  bool changed = false;
  const auto attempt = [&](auto change) {
    const HostStory before = story;
    change();
    if (still_broken()) {
      changed = true;
    } else {
      story = before;
    }
  };
  for (std::size_t i = story.visits.size(); i-- > 0;) {
    if (story.visits.size() > 1) {
      attempt([&] { story.visits.erase(story.visits.begin() + static_cast<std::ptrdiff_t>(i)); });
    }
    if (i < story.visits.size()) changed = shrink_script(story.visits[i].steps, still_broken) || changed;
  }
  if (story.route.hedge) attempt([&] { story.route.hedge.reset(); });
  if (story.route.circuit) attempt([&] { story.route.circuit.reset(); });
  if (story.route.budget) attempt([&] { story.route.budget.reset(); });
  if (story.pause > Duration::zero()) attempt([&] { story.pause = Duration::zero(); });
  return changed;
}

}  // namespace

template <typename Again>
void Teller::judge_twice(std::uint64_t number, char kind, const Judged& once, Again again) {
  std::string_view law = once.broken;
  if (number % one_in_so_many_plays_twice == 0) {
    ++twice_;
    if (again().hash != once.hash && law.empty()) law = "the same story ends the same way";
  }
  if (!law.empty() && !broken_) broken_ = Broken{kind + std::to_string(number), law};
}

void Teller::enumerated(std::uint64_t number) {
  marks_.begin_story();
  enumerate(number, lone_);
  judge_twice(number, 'e', judge_enumerated(lone_, flaw_, &marks_),
              [&] { return judge_enumerated(lone_, flaw_, nullptr); });
}

void Teller::random(std::uint64_t seed) {
  marks_.begin_story();
  if (is_lone(seed)) {
    draw(seed, lone_);
    judge_twice(seed, 'r', judge_lone(lone_, seed, flaw_, &marks_),
                [&] { return judge_lone(lone_, seed, flaw_, nullptr); });
  } else {
    draw(seed, host_);
    judge_twice(seed, 'r', judge_host(host_, seed, flaw_, &marks_, nullptr),
                [&] { return judge_host(host_, seed, flaw_, nullptr, nullptr); });
  }
}

std::string tell_in_full(const std::string& name, Flaw flaw) {
  if (name.size() < 2 || (name[0] != 'e' && name[0] != 'r')) {
    throw std::invalid_argument("a story is called e<number> or r<seed>");
  }
  const bool random = name[0] == 'r';
  const std::uint64_t number = std::stoull(name.substr(1));
  if (!random && number >= enumerated_count()) throw std::invalid_argument("no such enumerated story");
  if (random && !is_lone(number)) {
    HostStory story;
    draw(number, story);
    return in_full(
        story,
        [&](const HostStory& one, std::string* tale) {
          return judge_host(one, number, flaw, nullptr, tale).broken;
        },
        [](HostStory& one, auto still) { return shrink_host(one, still); });
  }
  LoneStory story;
  if (random) {
    draw(number, story);
  } else {
    enumerate(number, story);
  }
  const auto tell = [&](const LoneStory& one, std::string* tale) {
    Chance waits(number, Purpose::waits);
    play::LoadedDice highest = play::LoadedDice::highest();
    policy::Dice& dice = random ? static_cast<policy::Dice&>(waits) : highest;
    if (tale != nullptr) *tale = transcript(one, flaw, dice);
    return (random ? judge_lone(one, number, flaw, nullptr) : judge_enumerated(one, flaw, nullptr)).broken;
  };
  return in_full(story, tell, [](LoneStory& one, auto still) { return shrink_script(one.script, still); });
}

Flaw flaw_of(const std::string& text) {
  for (std::size_t i = 0; i < flaw_words.size(); ++i) {
    if (flaw_words[i] == text) return static_cast<Flaw>(i);
  }
  throw std::invalid_argument("no such flaw: " + text);
}

}  // namespace reprise::simulation
