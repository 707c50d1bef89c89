// Tests which limit the reason `attempts_spent` names.
#include "proxy/policy/decision/attempt_limit.hpp"

#include <gtest/gtest.h>

namespace reprise::policy {
namespace {

Ledger spent(const Outcome& outcome, std::initializer_list<Reason> verdicts) {
  Ledger ledger;
  for (const Reason reason : verdicts) {
    LedgerEntry entry;
    entry.attempt.number = static_cast<unsigned>(ledger.size()) + 1;
    entry.outcome = outcome;
    entry.verdict.reason = reason;
    ledger.add(entry);
  }
  ledger.reason = Reason::attempts_spent;
  return ledger;
}

TEST(AttemptLimit, spent_attempts_name_the_limit_that_was_reached) {
  constexpr Reason again = Reason::retryable_failure;
  constexpr Reason end = Reason::attempts_spent;
  Failed no_name{Stage::resolve, Cause::dns_error};
  EXPECT_EQ(meaning_of_end(spent(no_name, {again, again, end})), "the route's max_attempts is reached");
  no_name.never_existed = true;
  EXPECT_EQ(meaning_of_end(spent(no_name, {again, again, end})),
            "the name does not exist, and is looked up at most three times");
  EXPECT_EQ(meaning_of_end(spent(no_name, {again, end})), "the route's max_attempts is reached")
      << "max_attempts is lower";
  EXPECT_EQ(meaning_of_end(spent(Failed{Stage::connect, Cause::refused}, {Reason::resumed, end})),
            "resume.max_attempts is reached");
}

TEST(AttemptLimit, other_reasons_keep_their_meaning) {
  Ledger ledger;
  ledger.reason = Reason::circuit_open;
  EXPECT_EQ(meaning_of_end(ledger), meaning(Reason::circuit_open));
  for (const Reason reason : all_reasons()) {
    if (reason != Reason::attempts_spent) {
      EXPECT_EQ(meaning(reason, AttemptLimit::resumes), meaning(reason));
    }
  }
}

}  // namespace
}  // namespace reprise::policy
