// Tests the keys: bytes become key presses, and key presses change the view.
#include "proxy/tools/top/view.hpp"

#include "proxy/tools/top/columns.hpp"
#include "tests/top/proxy_story.hpp"

namespace reprise::tools {
namespace {

using Presses = std::vector<KeyPress>;

KeyPress character(char one) { return {Key::character, one}; }

TEST(Keys, terminal_key_sequences_are_recognised) {
  const std::vector<std::pair<std::string, Key>> known{
      {"\x1b[A", Key::up},       {"\x1bOA", Key::up},         {"\x1b[B", Key::down}, {"\x1bOB", Key::down},
      {"\x1b[5~", Key::page_up}, {"\x1b[6~", Key::page_down}, {"\x1b[H", Key::home}, {"\x1b[1~", Key::home},
      {"\x1b[F", Key::end},      {"\x1b[4~", Key::end},       {"\r", Key::enter},    {"\n", Key::enter},
      {"\x1bOM", Key::enter}};
  for (const auto& [bytes, key] : known)
    EXPECT_EQ(KeyReader().take(bytes), (Presses{{key, 0}})) << bytes.substr(1);
}

TEST(Keys, key_sequences_split_anywhere_are_recognised) {
  const std::string bytes = "j\x1b[B\x1b[6~q";
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    KeyReader keys;
    Presses all = keys.take(bytes.substr(0, first));
    for (const KeyPress& press : keys.take(bytes.substr(first))) all.push_back(press);
    EXPECT_EQ(all, (Presses{character('j'), {Key::down, 0}, {Key::page_down, 0}, character('q')})) << first;
    EXPECT_FALSE(keys.is_waiting());
  }
}

TEST(Keys, escape_is_recognised_when_nothing_follows) {
  KeyReader keys;
  EXPECT_TRUE(keys.take("\x1b").empty());
  EXPECT_TRUE(keys.is_waiting());
  EXPECT_EQ(keys.timed_out(), (Presses{{Key::escape, 0}}));
  EXPECT_TRUE(keys.timed_out().empty());
  EXPECT_TRUE(keys.take("\x1b[").empty());
  EXPECT_TRUE(keys.timed_out().empty()) << "half a sequence is no key";
  EXPECT_EQ(keys.take("\x1b\x1b[A"), (Presses{{Key::escape, 0}, {Key::up, 0}}));
  EXPECT_EQ(keys.take("\x1bq"), (Presses{{Key::escape, 0}, character('q')}));
}

TEST(Keys, unknown_key_sequences_are_ignored) {
  KeyReader keys;
  EXPECT_TRUE(keys.take("\x1b[200;300M\x01\xc3\xa4\x1b[1;5A\x1b[?1;2c").empty());
  EXPECT_EQ(keys.take("\x1b[" + std::string(100, '1') + "\x1b[Aq").back(), character('q'));
  EXPECT_EQ(keys.take("\x1b[1\x01q"), (Presses{character('q')}));
}

class Pressing : public testing::Test {
 protected:
  void press(std::initializer_list<KeyPress> keys) {
    for (const KeyPress& key : keys) view_ = pressed(view_, key, watch_, look_);
  }
  void type(std::string_view text) {
    for (const char one : text) view_ = pressed(view_, character(one), watch_, look_);
  }
  std::vector<std::string> order() const {
    std::vector<std::string> names;
    for (const RouteFigures& route : sorted_routes(watch_, view_)) names.push_back(route.name);
    return names;
  }

  Watch watch_ = seen(after_json(), utf8());
  Display look_ = look_of(80, 24, utf8());
  View view_;
  const std::string wide_ = "日本語の検索";
};

TEST_F(Pressing, chosen_route_stays_chosen_when_the_order_changes) {
  EXPECT_EQ(order(), (std::vector<std::string>{"payments", wide_, "default"}));
  type("j");
  EXPECT_EQ(view_.route, wide_);
  type("jjj");
  EXPECT_EQ(view_.route, "default");
  type("k");
  EXPECT_EQ(view_.route, wide_);
  type("r");
  EXPECT_EQ(order(), (std::vector<std::string>{"default", wide_, "payments"}));
  EXPECT_EQ(chosen_route(watch_, view_), wide_) << "whatever its place";
  press({{Key::home, 0}});
  EXPECT_EQ(view_.route, "default");
  press({{Key::end, 0}});
  EXPECT_EQ(view_.route, "payments");
  press({{Key::page_up, 0}});
  EXPECT_EQ(view_.route, "default");
  press({{Key::page_down, 0}});
  EXPECT_EQ(view_.route, "payments");
  type("gGb ");
  EXPECT_EQ(view_.route, "payments");
}

TEST_F(Pressing, routes_can_be_sorted_by_each_column) {
  type("1");
  EXPECT_EQ(order(), (std::vector<std::string>{"default", "payments", wide_}));
  type("r");
  EXPECT_EQ(order(), (std::vector<std::string>{wide_, "payments", "default"}));
  type("3");
  EXPECT_FALSE(view_.reversed);
  EXPECT_EQ(order().back(), "payments") << "it alone had failures";
  type("9");
  EXPECT_EQ(order().front(), "payments");
  for (std::size_t i = 0; i < column_count; ++i) {
    EXPECT_EQ(order().size(), 3U);
    type("s");
  }
  EXPECT_EQ(view_.sorted_by, Column::p99) << "all the way round";
}

TEST_F(Pressing, routes_without_a_figure_come_last) {
  watch_ = Watch(1);
  watch_.took(
      *read_status(
           status_json(1, 1, route_json("a", R"("requests":1)") + "," + route_json("b", R"("requests":1)")),
           nullptr)
           .value,
      1);
  watch_.took(
      *read_status(
           status_json(2, 1, route_json("new", R"("requests":1)") + "," + route_json("b", R"("requests":1)")),
           nullptr)
           .value,
      2);
  EXPECT_EQ(order(), (std::vector<std::string>{"b", "new"}));
  type("r");
  EXPECT_EQ(order(), (std::vector<std::string>{"b", "new"}));
}

TEST_F(Pressing, enter_opens_details_and_escape_goes_back) {
  press({{Key::enter, 0}});
  EXPECT_EQ(view_.page, Page::stories);
  EXPECT_EQ(view_.route, "payments");
  type("j");
  EXPECT_EQ(view_.story, "1-2e");
  type("jk");
  EXPECT_EQ(view_.story, "1-2f");
  type("j");
  press({{Key::enter, 0}});
  EXPECT_EQ(view_.page, Page::story);
  EXPECT_EQ(view_.story, "1-2e");
  type("jjj");
  EXPECT_EQ(view_.scrolled, 3U);
  type("u");
  EXPECT_EQ(view_.page, Page::upstreams);
  EXPECT_EQ(view_.scrolled, 0U);
  type("?");
  type("?");
  EXPECT_EQ(view_.page, Page::help);
  press({{Key::escape, 0}});
  EXPECT_EQ(view_.page, Page::story);
  press({{Key::escape, 0}});
  EXPECT_EQ(view_.page, Page::stories);
  press({{Key::escape, 0}, {Key::escape, 0}});
  EXPECT_EQ(view_.page, Page::routes);
}

TEST_F(Pressing, keys_have_no_effect_on_a_page_without_entries) {
  view_.page = Page::stories;
  view_.route = wide_;
  press({{Key::down, 0}, {Key::enter, 0}});
  EXPECT_EQ(view_.page, Page::stories);
  watch_ = Watch(1);
  view_ = {};
  press({{Key::down, 0}, {Key::enter, 0}});
  EXPECT_EQ(view_.page, Page::routes);
  EXPECT_EQ(view_.route, "");
}

TEST_F(Pressing, letter_keys_pause_and_quit) {
  type("p");
  EXPECT_TRUE(view_.paused);
  type("p");
  EXPECT_FALSE(view_.paused);
  type("xyz0");
  EXPECT_FALSE(view_.quits);
  type("q");
  EXPECT_TRUE(view_.quits);
}

TEST(Columns, least_important_columns_disappear_first_on_a_narrow_terminal) {
  EXPECT_EQ(shape_for(40, 5).columns,
            (std::vector<Column>{Column::route, Column::rate, Column::success, Column::p99}));
  EXPECT_EQ(shape_for(10, 5).columns, (std::vector<Column>{Column::route}));
  EXPECT_EQ(shape_for(10, 5).route, 9U);
  EXPECT_EQ(shape_for(1, 5).route, 1U);
  EXPECT_EQ(shape_for(80, 5).columns.size(), column_count);
  EXPECT_EQ(shape_for(80, 5).reasons, 0U);
  EXPECT_GT(shape_for(120, 5).reasons, 18U);
  EXPECT_EQ(shape_for(300, 500).route, 40U);
}

TEST(Columns, long_name_is_shown_in_full_if_all_columns_fit) {
  const std::size_t of_columns = 67;  // width of the selection mark and of all columns except the name
  EXPECT_EQ(shape_for(of_columns + 60, 60).columns.size(), column_count);
  EXPECT_EQ(shape_for(of_columns + 60, 60).route, 60U);
  EXPECT_EQ(shape_for(of_columns + 60, 60).reasons, 0U);
  EXPECT_EQ(shape_for(of_columns + 60 + 30, 60).reasons, 28U);
  EXPECT_EQ(shape_for(of_columns + 59, 60).route, 40U) << "the name is cut in any case";
}

TEST(Columns, reasons_are_listed_by_frequency) {
  EXPECT_EQ(reasons_text({}), "-");
  EXPECT_EQ(reasons_text({{"a", 1}, {"b", 1234567}, {"c", 1}}), "b 1.2M, a 1, c 1");
}

}  // namespace
}  // namespace reprise::tools
