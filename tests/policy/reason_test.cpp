// The closed list of reasons: every word once, every sentence there.
#include "proxy/policy/reason.hpp"

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

// Pins the table's order to the enumerators'.
TEST(Reason, WordsBelongToTheirEnumerators) {
  EXPECT_EQ(word(Reason::success), "success");
  EXPECT_EQ(word(Reason::not_retryable), "not_retryable");
  EXPECT_EQ(word(Reason::retryable_status), "retryable_status");
  EXPECT_EQ(word(Reason::retryable_failure), "retryable_failure");
  EXPECT_EQ(word(Reason::retryable_body), "retryable_body");
  EXPECT_EQ(word(Reason::stale_connection), "stale_connection");
  EXPECT_EQ(word(Reason::hedged), "hedged");
  EXPECT_EQ(word(Reason::resumed), "resumed");
  EXPECT_EQ(word(Reason::not_idempotent), "not_idempotent");
  EXPECT_EQ(word(Reason::not_replayable), "not_replayable");
  EXPECT_EQ(word(Reason::attempts_spent), "attempts_spent");
  EXPECT_EQ(word(Reason::deadline_too_near), "deadline_too_near");
  EXPECT_EQ(word(Reason::budget_spent), "budget_spent");
  EXPECT_EQ(word(Reason::upstream_said_later), "upstream_said_later");
  EXPECT_EQ(word(Reason::upstream_said_no), "upstream_said_no");
  EXPECT_EQ(word(Reason::nested_retry), "nested_retry");
  EXPECT_EQ(word(Reason::signature_expired), "signature_expired");
  EXPECT_EQ(word(Reason::circuit_open), "circuit_open");
  EXPECT_EQ(word(Reason::host_paused), "host_paused");
  EXPECT_EQ(word(Reason::address_denied), "address_denied");
  EXPECT_EQ(word(Reason::response_started), "response_started");
  EXPECT_EQ(word(Reason::resume_mismatch), "resume_mismatch");
  EXPECT_EQ(word(Reason::client_gone), "client_gone");
  EXPECT_EQ(word(Reason::shutting_down), "shutting_down");
  EXPECT_EQ(word(Reason::observe_only), "observe_only");
  EXPECT_EQ(word(Reason::retries_off), "retries_off");
  EXPECT_EQ(static_cast<std::size_t>(Reason::retries_off) + 1, reason_count);
}

TEST(Reason, OnesThatSendAgain) {
  const std::set<Reason> yes{Reason::retryable_status, Reason::retryable_failure,
                             Reason::retryable_body,   Reason::stale_connection,
                             Reason::hedged,           Reason::resumed};
  for (const Reason reason : all_reasons()) EXPECT_EQ(is_retry(reason), yes.contains(reason)) << word(reason);
}

}  // namespace
}  // namespace reprise::policy
