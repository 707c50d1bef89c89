// Tests the closed list of reasons: every word is unique and every reason has its sentence.
#include "proxy/policy/decision/reason.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace reprise::policy {
namespace {

TEST(Reason, each_reason_has_a_unique_word_and_a_meaning) {
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

std::string words_of(bool (*is_one)(Reason)) {
  std::string words;
  for (const Reason reason : all_reasons()) {
    if (is_one(reason)) words.append(words.empty() ? "" : " ").append(word(reason));
  }
  return words;
}

TEST(Reason, only_the_listed_reasons_mean_a_retry_or_an_exhausted_limit) {
  EXPECT_EQ(words_of(is_retry),
            "retryable_status retryable_failure retryable_body stale_connection hedged resumed");
  EXPECT_EQ(words_of(is_exhausted), "attempts_spent deadline_too_near budget_spent upstream_said_later");
}

}  // namespace
}  // namespace reprise::policy
