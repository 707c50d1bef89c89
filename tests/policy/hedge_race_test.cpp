// Tests every transition of HedgeRace. Also tests to which attempt a report refers in each state.
#include "proxy/policy/decision/hedge_race.hpp"

#include <gtest/gtest.h>
#include <array>
#include <string_view>
#include <vector>

namespace reprise::policy::hedge_race_test {
namespace {

using namespace std::chrono_literals;
using Entry = HedgeRace::Entry;

constexpr Instant noon{std::chrono::hours(12)};

enum class Before : std::uint8_t { both, first, second };

HedgeRace race(Before before) {
  HedgeRace made;
  made.plan(noon + 200ms);
  made.start(noon);
  if (before == Before::first) made.end(HedgeRace::second, false);
  if (before == Before::second) made.end(HedgeRace::first, false);
  return made;
}

struct Row {
  Before before;
  unsigned ends;  // number of the attempt that ends; 0: the race is abandoned
  bool wins;
  HedgeOutcome copy;
  Entry first;
  Entry second;
  unsigned runs_on;  // number of the attempt that still runs; 0: both have ended
};

constexpr std::array<Row, 11> rows{
    {{Before::both, 1, false, HedgeOutcome::cancelled, Entry::outcome, Entry::none, 2},
     {Before::both, 2, false, HedgeOutcome::failed, Entry::none, Entry::outcome, 1},
     {Before::both, 1, true, HedgeOutcome::lost, Entry::outcome, Entry::cancelled, 0},
     {Before::both, 2, true, HedgeOutcome::won, Entry::cancelled, Entry::outcome, 0},
     {Before::both, 0, false, HedgeOutcome::cancelled, Entry::cancelled, Entry::cancelled, 0},
     {Before::first, 1, false, HedgeOutcome::failed, Entry::outcome, Entry::verdict, 0},
     {Before::first, 1, true, HedgeOutcome::failed, Entry::outcome, Entry::verdict, 0},
     {Before::first, 0, false, HedgeOutcome::failed, Entry::cancelled, Entry::verdict, 0},
     {Before::second, 2, false, HedgeOutcome::failed, Entry::none, Entry::outcome, 0},
     {Before::second, 2, true, HedgeOutcome::won, Entry::none, Entry::outcome, 0},
     {Before::second, 0, false, HedgeOutcome::cancelled, Entry::none, Entry::cancelled, 0}}};

TEST(HedgeRaceTest, each_way_an_attempt_can_end_in_a_race_has_the_expected_effect) {
  for (const Row& row : rows) {
    SCOPED_TRACE(testing::Message() << "before " << static_cast<int>(row.before) << ", ends " << row.ends
                                    << (row.wins ? ", wins" : ""));
    HedgeRace one = race(row.before);
    const HedgeRace::Step step = row.ends == 0 ? one.abandon() : one.end(row.ends, row.wins);
    EXPECT_EQ(step.copy, row.copy);
    EXPECT_EQ(step.first, row.first);
    EXPECT_EQ(step.second, row.second);
    EXPECT_EQ(one.is_on(), row.runs_on != 0);
    if (!one.is_on()) continue;
    for (const unsigned number : {1U, 2U}) EXPECT_EQ(one.runs(number, 2), number == row.runs_on);
  }
}

TEST(HedgeRaceTest, hedge_is_due_only_after_it_was_planned_with_a_time) {
  HedgeRace one;
  EXPECT_EQ(one.due(), std::nullopt);
  one.plan(noon);
  EXPECT_EQ(one.due(), noon);
  EXPECT_FALSE(one.is_on());
  one.plan(std::nullopt);
  EXPECT_EQ(one.due(), std::nullopt);
}

TEST(HedgeRaceTest, hedge_is_not_due_after_it_was_dropped_or_started) {
  HedgeRace dropped;
  dropped.plan(noon);
  dropped.drop();
  EXPECT_EQ(dropped.due(), std::nullopt);
  EXPECT_EQ(race(Before::both).due(), std::nullopt);
}

TEST(HedgeRaceTest, race_records_when_the_first_attempt_started) {
  EXPECT_EQ(race(Before::second).first_started(), noon);
}

TEST(HedgeRaceTest, without_a_race_only_the_latest_attempt_is_running) {
  const HedgeRace off;
  EXPECT_TRUE(off.runs(3, 3));
  EXPECT_FALSE(off.runs(2, 3));
  HedgeRace due;
  due.plan(noon);
  EXPECT_TRUE(due.runs(1, 1));
}

TEST(HedgeRaceTest, exactly_two_attempts_run_during_a_race) {
  const HedgeRace both = race(Before::both);
  EXPECT_TRUE(both.both_run());
  EXPECT_TRUE(both.runs(1, 2));
  EXPECT_TRUE(both.runs(2, 2));
  EXPECT_FALSE(both.runs(0, 2));
  EXPECT_FALSE(both.runs(3, 2));
  EXPECT_FALSE(race(Before::first).runs(3, 2));
}

TEST(HedgeRaceTest, report_without_an_attempt_number_refers_to_the_only_running_attempt) {
  EXPECT_EQ(HedgeRace().number_of(0, 7), 7U);
  EXPECT_EQ(race(Before::first).number_of(0, 2), 1U);
  EXPECT_EQ(race(Before::second).number_of(0, 2), 2U);
  EXPECT_EQ(race(Before::both).number_of(0, 2), 0U) << "it does not say which one";
}

TEST(HedgeRaceTest, report_with_an_attempt_number_refers_to_that_attempt) {
  for (const Before before : {Before::both, Before::first, Before::second})
    EXPECT_EQ(race(before).number_of(1, 2), 1U);
  EXPECT_EQ(HedgeRace().number_of(1, 7), 1U);
}

TEST(HedgeRaceTest, delays_in_the_hints_of_a_failed_attempt_shrink_to_zero_as_time_passes) {
  HedgeRace one = race(Before::second);
  Hints hints;
  hints.retry_after = 10s;
  hints.aws_retry_after = 3s;
  hints.said_no = true;
  one.remember(hints, noon + 1s);
  const Hints soon = one.hints_left(noon + 3s);
  EXPECT_EQ(soon.retry_after, 8s);
  EXPECT_EQ(soon.aws_retry_after, 1s);
  EXPECT_TRUE(soon.said_no);
  EXPECT_EQ(one.hints_left(noon + 6s).aws_retry_after, 0s);
}

TEST(HedgeRaceTest, next_race_does_not_inherit_hints_of_the_previous_race) {
  HedgeRace one = race(Before::second);
  Hints hints;
  hints.retry_after = 10s;
  one.remember(hints, noon);
  one.end(HedgeRace::second, false);
  one.start(noon + 1s);
  EXPECT_EQ(one.hints_left(noon + 1s).retry_after, std::nullopt);
}

TEST(HedgeOutcomes, each_hedge_outcome_has_a_unique_word) {
  std::vector<std::string_view> words;
  for (std::uint8_t i = 0; i < hedge_outcome_count; ++i) words.push_back(word(static_cast<HedgeOutcome>(i)));
  EXPECT_EQ(words, (std::vector<std::string_view>{"none", "refused", "observed", "won", "lost", "failed",
                                                  "cancelled"}));
}

}  // namespace
}  // namespace reprise::policy::hedge_race_test
