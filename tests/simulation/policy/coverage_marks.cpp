#include "tests/simulation/policy/coverage_marks.hpp"

#include <algorithm>

namespace reprise::simulation {
namespace {

constexpr std::array<std::string_view, ending_count> ending_words{"answered", "cut", "failed", "timed_out",
                                                                  "left"};

// Names of the alternatives of policy::Action, in their order.
constexpr std::array<std::string_view, std::variant_size_v<policy::Action>> action_words{
    "start", "wait", "deliver", "cancel", "resume", "continue", "cut", "fail", "leave"};

template <typename List>
void add_up(List& to, const List& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i].count += from[i].count;
}

}  // namespace

std::string_view word(Ending ending) { return ending_words[static_cast<std::size_t>(ending)]; }

void CoverageMarks::note(const policy::Ledger& ledger) {
  note(ledger.reason);
  note(ledger.hedge);
  if (ledger.hedge == policy::HedgeOutcome::refused) note(ledger.hedge_refusal);
  for (std::size_t i = 0; i < ledger.size(); i = ledger.next(i)) {
    note(ledger[i].verdict.reason);
    if (const auto* failed = std::get_if<policy::Failed>(&ledger[i].outcome)) note(*failed);
  }
}

void CoverageMarks::note(const policy::Actions& asked) {
  for (const policy::Action& action : asked) note(actions, action.index());
}

void CoverageMarks::add(const CoverageMarks& other) {
  story_ += other.story_;
  add_up(reasons, other.reasons);
  add_up(failures, other.failures);
  add_up(actions, other.actions);
  add_up(endings, other.endings);
  add_up(hedges, other.hedges);
}

// Calls `visit` for each mark (a situation in a story) with its name, its count, and whether it is possible.
template <typename Visitor>
void CoverageMarks::each(Visitor visit) const {
  for (const policy::Reason reason : policy::all_reasons()) {
    const std::uint64_t count = reasons[static_cast<std::size_t>(reason)].count;
    visit("reason " + std::string(policy::word(reason)), count, true);
  }
  for (std::size_t i = 0; i < pair_count; ++i) {
    const policy::Failed failed{static_cast<policy::Stage>(i / policy::cause_count),
                                static_cast<policy::Cause>(i % policy::cause_count)};
    visit(
        "failure " + std::string(policy::word(failed.stage)) + " " + std::string(policy::word(failed.cause)),
        failures[i].count, is_possible(failed));
  }
  for (std::size_t i = 0; i < action_words.size(); ++i) {
    visit("action " + std::string(action_words[i]), actions[i].count, true);
  }
  for (std::size_t i = 0; i < ending_count; ++i) {
    visit("ending " + std::string(word(static_cast<Ending>(i))), endings[i].count, true);
  }
  for (std::size_t i = 0; i < policy::hedge_outcome_count; ++i) {
    visit("hedge " + std::string(policy::word(static_cast<policy::HedgeOutcome>(i))), hedges[i].count, true);
  }
}

std::string CoverageMarks::table() const {
  std::string lines;
  each([&](const std::string& name, std::uint64_t count, bool possible) {
    if (possible || count > 0) lines += name + ": " + std::to_string(count) + "\n";
  });
  return lines;
}

std::string CoverageMarks::missing() const {
  std::string lines;
  const std::uint64_t least = std::max<std::uint64_t>(1, story_ / 1000);
  each([&](const std::string& name, std::uint64_t count, bool possible) {
    if (possible && count < least)
      lines +=
          name + ": reached " + std::to_string(count) + " times, expected " + std::to_string(least) + "\n";
    if (!possible && count > 0) lines += name + ": reached, and cannot occur\n";
  });
  return lines;
}

}  // namespace reprise::simulation
