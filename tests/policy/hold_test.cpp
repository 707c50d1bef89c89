// Tests which responses are held, and how many bytes of them.
#include "proxy/policy/decision/hold.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "proxy/policy/decision/route_policy.hpp"

namespace reprise::policy::hold_test {
namespace {

constexpr std::array every_kind{BodyKind::json, BodyKind::xml, BodyKind::untyped, BodyKind::event_stream,
                                BodyKind::other};
const BodyPredicate overloaded{"", "error.type", {"overloaded_error"}};
const BodyPredicate error_event{"error", ""};
const BodyPredicate overloaded_event{"error", "error.type", {"overloaded_error"}};
const BodyPredicate throttled_xml{.value = {.matches = {"*Throttling*"}}, .xml = "Code"};

TEST(HoldPolicy, byte_limit_holds_every_kind_of_body) {
  HoldPolicy hold;
  hold.bytes = 100;
  for (const BodyKind kind : every_kind) EXPECT_EQ(bytes_to_hold(hold, 200, kind), 100U);
  hold.body = {overloaded};
  for (const BodyKind kind : every_kind) EXPECT_EQ(bytes_to_hold(hold, 404, kind), 100U);
}

/// Returns the kinds of body that are held for this predicate alone.
std::vector<BodyKind> held_for(const BodyPredicate& predicate, int status = 200) {
  HoldPolicy hold;
  hold.body = {predicate};
  std::vector<BodyKind> kinds;
  for (const BodyKind kind : every_kind) {
    const std::size_t bytes = bytes_to_hold(hold, status, kind);
    EXPECT_TRUE(bytes == 0 || bytes == 16 * 1024);
    if (bytes > 0) kinds.push_back(kind);
  }
  return kinds;
}

TEST(HoldPolicy, response_is_not_held_if_its_status_is_listed_in_retry_on_or_retry_refused) {
  RoutePolicy policy;
  policy.hold = HoldPolicy{};
  EXPECT_EQ(hold_for(policy, {409, {}}), &*policy.hold);
  policy.retry.refused.statuses.set(409);
  EXPECT_EQ(hold_for(policy, {409, {}}), nullptr);
  EXPECT_EQ(hold_for(policy, {503, {}}), nullptr);
}

TEST(HoldPolicy, body_is_held_without_a_byte_limit_only_if_a_predicate_may_match_its_kind) {
  using Kinds = std::vector<BodyKind>;
  for (const BodyKind kind : every_kind) EXPECT_EQ(bytes_to_hold(HoldPolicy{}, 200, kind), 0U);
  EXPECT_EQ(held_for(overloaded), (Kinds{BodyKind::json, BodyKind::untyped, BodyKind::event_stream}));
  EXPECT_EQ(held_for(throttled_xml), (Kinds{BodyKind::xml, BodyKind::untyped}));
  EXPECT_EQ(held_for(error_event), (Kinds{BodyKind::event_stream}));
  EXPECT_EQ(held_for(overloaded_event), (Kinds{BodyKind::event_stream}));
  EXPECT_EQ(held_for({.header = "x-amzn-errortype"}), Kinds{}) << "a head is judged by itself";
  HoldPolicy both;
  both.body = {error_event, throttled_xml};
  EXPECT_GT(bytes_to_hold(both, 200, BodyKind::xml), 0U);
  EXPECT_EQ(bytes_to_hold(both, 200, BodyKind::json), 0U);
}

TEST(HoldPolicy, body_is_held_without_a_byte_limit_only_if_a_predicate_covers_its_status) {
  BodyPredicate predicate = overloaded;
  predicate.status = StatusRange{400, 403};
  EXPECT_EQ(held_for(predicate, 400).size(), 3U);
  EXPECT_EQ(held_for(predicate, 403).size(), 3U);
  EXPECT_TRUE(held_for(predicate, 200).empty());
  EXPECT_TRUE(held_for(predicate, 399).empty());
  EXPECT_TRUE(held_for(predicate, 404).empty());
}

TEST(HoldPolicy, hold_applies_only_to_responses_that_would_be_delivered) {
  RoutePolicy policy;
  EXPECT_EQ(hold_for(policy, {200, {}}), nullptr) << "off by default";
  policy.hold.emplace();
  EXPECT_EQ(hold_for(policy, {200, {}}), &*policy.hold);
  EXPECT_EQ(hold_for(policy, {404, {}}), &*policy.hold);
  EXPECT_EQ(hold_for(policy, {503, {}}), nullptr) << "retried for its status";
  EXPECT_EQ(hold_for(policy, {101, {}}), nullptr) << "no longer HTTP";
  policy.mode = Mode::observe;
  EXPECT_EQ(hold_for(policy, {200, {}}), &*policy.hold);
  policy.mode = Mode::off;
  EXPECT_EQ(hold_for(policy, {200, {}}), nullptr);
}

TEST(RetryOn, matched_body_is_retryable_regardless_of_its_status) {
  const RetryOn nothing;
  EXPECT_TRUE(nothing.lists(Responded{200, {}, true}));
  EXPECT_FALSE(nothing.lists(Responded{200, {}, false}));
}

}  // namespace
}  // namespace reprise::policy::hold_test
