// `hold` as it is written, as it is inherited, and as it is printed.
#include <gtest/gtest.h>

#include <string>

#include "config/load.hpp"
#include "config/reference.hpp"

namespace reprise::config {
namespace {

using namespace std::chrono_literals;
using policy::BodyPredicate;

Settings load(const std::string& text) {
  Loaded loaded = load_text("version: 1\n" + text, {});
  for (const Problem& problem : loaded.problems) ADD_FAILURE() << to_line(problem, "f.yaml");
  return loaded.settings ? *loaded.settings : built_in();
}

policy::RoutePolicy first(const std::string& text) { return (*load(text).routes)[0].policy; }
policy::RoutePolicy defaults(const std::string& text) { return first("defaults: {" + text + "}\n"); }

TEST(Hold, is_off_unless_asked_for) {
  EXPECT_FALSE(defaults("").hold);
  EXPECT_FALSE(defaults("hold: off").hold);
  EXPECT_FALSE(defaults("").retry.on.truncated);
}

TEST(Hold, has_its_defaults_for_what_is_not_written) {
  const auto bytes = defaults("hold: {bytes: 64KiB}").hold;
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->bytes, 65536U);
  EXPECT_EQ(bytes->time, 1s);
  EXPECT_TRUE(bytes->body.empty());
  const auto body = defaults("hold: {time: 250ms, body: {event: error}}").hold;
  ASSERT_TRUE(body);
  EXPECT_EQ(body->bytes, 0U);
  EXPECT_EQ(body->time, 250ms);
}

TEST(Hold, body_is_one_predicate_or_a_list) {
  const BodyPredicate overloaded{"", "error.type", "overloaded_error"};
  EXPECT_EQ(defaults("hold: {body: {json: error.type, equals: overloaded_error}}").hold->body,
            std::vector{overloaded});
  const auto list = defaults(
      "hold: {body: [{json: error}, {event: error}, {event: e, json: code, equals: 529}, {json: a, equals: "
      "\"\"}]}");
  ASSERT_EQ(list.hold->body.size(), 4U);
  EXPECT_EQ(list.hold->body[0], (BodyPredicate{"", "error", std::nullopt}));
  EXPECT_EQ(list.hold->body[1], (BodyPredicate{"error", "", std::nullopt}));
  EXPECT_EQ(list.hold->body[2], (BodyPredicate{"e", "code", "529"}));
  EXPECT_EQ(list.hold->body[3], (BodyPredicate{"", "a", ""}));
}

TEST(Hold, merges_key_by_key_and_off_switches_it_off) {
  const std::string layers = "defaults: {hold: {bytes: 1KiB, time: 2s, body: {event: error}}}\nroutes:\n";
  const auto route = first(layers + "  - {name: r, hold: {body: [{json: error}]}}\n");
  EXPECT_EQ(route.hold->bytes, 1024U);
  EXPECT_EQ(route.hold->time, 2s);
  EXPECT_EQ(route.hold->body, (std::vector{BodyPredicate{"", "error", std::nullopt}}));
  EXPECT_FALSE(first(layers + "  - {name: r, hold: off}\n").hold);
}

TEST(Hold, truncated_may_be_listed) {
  EXPECT_TRUE(defaults("retry: {on: [truncated]}, hold: {bytes: 1KiB}").retry.on.truncated);
}

TEST(Hold, is_printed_as_it_loads) {
  const std::string text =
      "defaults: {retry: {on: [503, truncated]}, hold: {bytes: 64KiB, time: 1500ms, body: [{event: \"a: b\", "
      "json: "
      "error.type, equals: \"x, y\"}, {json: a}]}}\n";
  const std::string printed = effective_yaml(load(text));
  EXPECT_NE(printed.find("bytes: 64KiB"), std::string::npos) << printed;
  EXPECT_NE(printed.find(R"([{event: "a: b", json: error.type, equals: "x, y"}, {json: a}])"),
            std::string::npos)
      << printed;
  Loaded again = load_text(printed, {});
  ASSERT_TRUE(again.settings);
  EXPECT_EQ(effective_yaml(*again.settings), printed);
}

TEST(Hold, llm_looks_for_overload_in_the_first_event) {
  const Settings settings = load("presets: [llm]\n");
  const auto& hold = (*settings.routes)[0].policy.hold;
  ASSERT_TRUE(hold);
  EXPECT_EQ(hold->bytes, 0U);
  EXPECT_EQ(hold->body, (std::vector{BodyPredicate{"error", "error.type", "overloaded_error"}}));
}

}  // namespace
}  // namespace reprise::config
