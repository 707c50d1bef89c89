// Which answers are held back, how much of them, and which bodies make them worth another attempt.
#include "proxy/policy/hold.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "proxy/policy/route_policy.hpp"

namespace reprise::policy {
namespace {

/// A body with an event name and texts at paths.
class Told final : public BodyView {
 public:
  Told(std::string event, std::map<std::string, std::string, std::less<>> values)
      : event_(std::move(event)), values_(std::move(values)) {}
  std::string_view event() const override { return event_; }
  bool has(std::string_view path, const std::optional<std::string>& equals) const override {
    const auto found = values_.find(path);
    return found != values_.end() && (!equals || found->second == *equals);
  }

 private:
  std::string event_;
  std::map<std::string, std::string, std::less<>> values_;
};

const BodyPredicate overloaded{"", "error.type", "overloaded_error"};
const BodyPredicate any_error{"", "error", std::nullopt};
const BodyPredicate error_event{"error", "", std::nullopt};
const BodyPredicate overloaded_event{"error", "error.type", "overloaded_error"};

TEST(BodyPredicate, AllOfItsKeysMustHold) {
  const Told body("", {{"error.type", "overloaded_error"}});
  const Told stream("error", {{"error.type", "overloaded_error"}});
  const Told other("error", {{"error.type", "invalid_request_error"}});
  EXPECT_TRUE(matches(overloaded, body));
  EXPECT_TRUE(matches(overloaded, stream));
  EXPECT_FALSE(matches(overloaded, other));
  EXPECT_FALSE(matches(any_error, body));
  EXPECT_FALSE(matches(error_event, body));
  EXPECT_TRUE(matches(error_event, other));
  EXPECT_TRUE(matches(overloaded_event, stream));
  EXPECT_FALSE(matches(overloaded_event, other));
  EXPECT_FALSE(matches(overloaded_event, body));
}

TEST(BodyPredicate, AnyOfAListIsEnough) {
  const Told body("", {{"error.type", "overloaded_error"}});
  EXPECT_TRUE(matches({error_event, overloaded}, body));
  EXPECT_FALSE(matches({error_event, any_error}, body));
  EXPECT_FALSE(matches(std::vector<BodyPredicate>{}, body));
}

TEST(BodyPredicate, SaysWhatItAsksFor) {
  EXPECT_EQ(describe(overloaded), "json: error.type, equals: overloaded_error");
  EXPECT_EQ(describe(any_error), "json: error");
  EXPECT_EQ(describe(error_event), "event: error");
  EXPECT_EQ(describe(overloaded_event), "event: error, json: error.type, equals: overloaded_error");
}

TEST(HoldPolicy, BytesAreHeldOfEveryKindOfBody) {
  HoldPolicy hold;
  hold.bytes = 100;
  for (const BodyKind kind : {BodyKind::json, BodyKind::event_stream, BodyKind::other})
    EXPECT_EQ(bytes_to_hold(hold, kind), 100U);
  hold.body = {overloaded};
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::json), 100U);
}

TEST(HoldPolicy, WithoutBytesOnlyWhatAPredicateMayMatchIsHeld) {
  HoldPolicy hold;
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::json), 0U);
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::event_stream), 0U);
  hold.body = {error_event, overloaded_event};
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::event_stream), 16U * 1024);
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::json), 0U);
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::other), 0U);
  hold.body.push_back(overloaded);
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::event_stream), 16U * 1024);
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::json), 16U * 1024);
  EXPECT_EQ(bytes_to_hold(hold, BodyKind::other), 0U);
}

TEST(HoldPolicy, AppliesToAnswersThatWouldBeDelivered) {
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

TEST(RetryOn, AListedBodyIsListedWhateverItsStatus) {
  const RetryOn nothing;
  EXPECT_TRUE(nothing.lists(Answered{200, {}, true}));
  EXPECT_FALSE(nothing.lists(Answered{200, {}, false}));
}

}  // namespace
}  // namespace reprise::policy
