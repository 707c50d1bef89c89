// The closed list of reasons: every word once, every sentence there.
#include "proxy/verdict/reason.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace reprise::policy {
namespace {

TEST(Reason, EveryWordIsThereOnce) {
  std::set<std::string_view> words;
  for (const Reason reason : all_reasons()) {
    EXPECT_TRUE(words.insert(word(reason)).second) << word(reason);
    EXPECT_FALSE(word(reason).empty());
    EXPECT_TRUE(std::all_of(word(reason).begin(), word(reason).end(), [](char c) {
      return (c >= 'a' && c <= 'z') || c == '_';
    })) << word(reason);
    EXPECT_GT(meaning(reason).size(), 10U) << word(reason);
  }
  EXPECT_EQ(words.size(), reason_count);
}

TEST(Reason, OnesThatSendAgain) {
  const std::set<Reason> yes{Reason::retryable_status, Reason::retryable_failure,
                             Reason::retryable_body,   Reason::stale_connection,
                             Reason::hedged,           Reason::resumed};
  for (const Reason reason : all_reasons()) EXPECT_EQ(is_retry(reason), yes.contains(reason)) << word(reason);
}

TEST(Reason, LimitsThatEndWhatWouldHaveBeenSentAgain) {
  const std::set<Reason> yes{Reason::attempts_spent, Reason::deadline_too_near, Reason::budget_spent,
                             Reason::upstream_said_later};
  for (const Reason reason : all_reasons())
    EXPECT_EQ(is_exhausted(reason), yes.contains(reason)) << word(reason);
}

}  // namespace
}  // namespace reprise::policy
