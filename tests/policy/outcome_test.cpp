// Tests the words for stages, causes and outcomes, which metrics and logs use.
#include "proxy/policy/decision/outcome.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <utility>

namespace reprise::policy {
namespace {

TEST(Word, each_stage_of_an_attempt_has_the_documented_word) {
  EXPECT_EQ(word(Stage::resolve), "resolve");
  EXPECT_EQ(word(Stage::connect), "connect");
  EXPECT_EQ(word(Stage::tls), "tls");
  EXPECT_EQ(word(Stage::send), "send");
  EXPECT_EQ(word(Stage::await_head), "await_head");
  EXPECT_EQ(word(Stage::head), "head");
  EXPECT_EQ(word(Stage::body), "body");
}

TEST(Word, each_cause_has_a_unique_word) {
  std::set<std::string_view> words;
  for (std::uint8_t c = 0; c < cause_count; ++c) {
    EXPECT_FALSE(word(static_cast<Cause>(c)).empty());
    EXPECT_TRUE(words.insert(word(static_cast<Cause>(c))).second);
  }
  EXPECT_EQ(word(Cause::dns_error), "dns_error");
  EXPECT_EQ(word(Cause::keepalive_lost), "keepalive_lost");
  EXPECT_EQ(word(Cause::cancelled), "cancelled");
  EXPECT_EQ(word(Cause::replay_lost), "replay_lost");
}

TEST(OutcomeLabel, response_label_is_its_status_class) {
  for (const auto& [status, label] : {std::pair{200, "2xx"},
                                      {299, "2xx"},
                                      {300, "3xx"},
                                      {399, "3xx"},
                                      {400, "4xx"},
                                      {499, "4xx"},
                                      {500, "5xx"},
                                      {599, "5xx"},
                                      {600, "other"},
                                      {999, "other"}}) {
    EXPECT_EQ(outcome_label(Responded{status, {}}), label) << status;
  }
}

TEST(OutcomeLabel, failure_label_follows_from_stage_and_cause) {
  EXPECT_EQ(outcome_label(Failed{Stage::resolve, Cause::dns_timeout}), "resolve");
  EXPECT_EQ(outcome_label(Failed{Stage::connect, Cause::connect_timeout}), "connect");
  EXPECT_EQ(outcome_label(Failed{Stage::tls, Cause::attempt_timeout}), "tls");
  EXPECT_EQ(outcome_label(Failed{Stage::send, Cause::reset}), "reset");
  EXPECT_EQ(outcome_label(Failed{Stage::await_head, Cause::closed}), "reset");
  EXPECT_EQ(outcome_label(Failed{Stage::await_head, Cause::attempt_timeout}), "timeout");
  EXPECT_EQ(outcome_label(Failed{Stage::head, Cause::response_timeout}), "timeout");
  EXPECT_EQ(outcome_label(Failed{Stage::head, Cause::malformed_response}), "reset");
  EXPECT_EQ(outcome_label(Failed{Stage::body, Cause::reset}), "truncated");
  for (std::uint8_t s = 0; s < stage_count; ++s) {
    EXPECT_EQ(outcome_label(Failed{static_cast<Stage>(s), Cause::cancelled}), "cancelled");
    EXPECT_EQ(outcome_label(Failed{static_cast<Stage>(s), Cause::replay_lost}), "cancelled");
  }
}

TEST(OutcomeLabel, failure_labels_come_from_a_closed_list) {
  const std::set<std::string_view> labels{"resolve", "connect",   "tls",      "reset",
                                          "timeout", "truncated", "cancelled"};
  for (std::uint8_t s = 0; s < stage_count; ++s) {
    for (std::uint8_t c = 0; c < cause_count; ++c) {
      const Failed failed{static_cast<Stage>(s), static_cast<Cause>(c)};
      EXPECT_TRUE(labels.contains(outcome_label(failed)));
    }
  }
}

}  // namespace
}  // namespace reprise::policy
