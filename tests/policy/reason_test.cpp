// The closed list of reasons: every word once, every sentence there.
#include "proxy/policy/decision/reason.hpp"

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

enum class Course { again, ends, limit };

/// Told once more: without a default, so that the compiler asks for each new reason.
Course course(Reason reason) {
  switch (reason) {
    case Reason::retryable_status:
    case Reason::retryable_failure:
    case Reason::retryable_body:
    case Reason::stale_connection:
    case Reason::hedged:
    case Reason::resumed: return Course::again;
    case Reason::attempts_spent:
    case Reason::deadline_too_near:
    case Reason::budget_spent:
    case Reason::upstream_said_later: return Course::limit;
    case Reason::success:
    case Reason::not_retryable:
    case Reason::not_idempotent:
    case Reason::not_replayable:
    case Reason::upstream_said_no:
    case Reason::nested_retry:
    case Reason::signature_expired:
    case Reason::circuit_open:
    case Reason::host_paused:
    case Reason::address_denied:
    case Reason::ambiguous_outcome:
    case Reason::response_started:
    case Reason::resume_mismatch:
    case Reason::client_gone:
    case Reason::shutting_down:
    case Reason::observe_only:
    case Reason::retries_off: break;
  }
  return Course::ends;
}

TEST(Reason, SendsAgainOrEndsOrIsALimitThatEndsWhatWouldHaveBeenSentAgain) {
  for (const Reason reason : all_reasons()) {
    EXPECT_EQ(is_retry(reason), course(reason) == Course::again) << word(reason);
    EXPECT_EQ(is_exhausted(reason), course(reason) == Course::limit) << word(reason);
  }
}

}  // namespace
}  // namespace reprise::policy
