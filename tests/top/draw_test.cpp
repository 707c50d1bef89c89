// Tests whole screens as text, and the properties of a screen of any size.
#include "proxy/tools/top/draw.hpp"

#include <algorithm>
#include <vector>

#include "tests/top/proxy_story.hpp"

namespace reprise::tools {
namespace {

std::string screen_of(const Watch& watch, const View& view, const Display& display) {
  return text_of(draw(watch, view, display));
}

// Expects what must be true of every screen: the right height, no line that is too wide, no control
// characters, and only ASCII unless the terminal uses UTF-8.
void expect_fits(const Screen& screen, const Display& display) {
  ASSERT_EQ(screen.size(), display.rows);
  for (const Line& line : screen) {
    std::string text;
    for (const Piece& piece : line.pieces) text += piece.text;
    EXPECT_LE(columns_of(text, display.charset), display.columns) << text;
    EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char byte) {
      const auto code = static_cast<unsigned char>(byte);
      return code < 0x20 || code == 0x7f;
    })) << text;
    if (!display.charset.utf8) {
      EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char byte) {
        return static_cast<unsigned char>(byte) < 0x80;
      })) << text;
    }
  }
}

std::string routes_json(int count, int each) {
  std::string routes;
  for (int i = 0; i < count; ++i)
    routes +=
        (i > 0 ? "," : "") + route_json("route-" + std::to_string(i),
                                        R"("requests":)" + std::to_string(i * each) + R"(,"refused":{})");
  return routes;
}

View on(Page page) {
  View view;
  view.page = page;
  view.route = "payments";
  view.story = "1-2e";
  return view;
}

TEST(Draw, routes_page_on_a_terminal_of_80_by_24_matches_the_golden_file) {
  expect_golden("routes-80x24.txt", screen_of(seen(after_json(), utf8()), {}, look_of(80, 24, utf8())));
}

TEST(Draw, routes_page_on_a_terminal_of_132_by_36_matches_the_golden_file) {
  expect_golden("routes-132x36.txt",
                screen_of(seen(after_json(troubled), utf8()), {}, look_of(132, 36, utf8())));
}

TEST(Draw, routes_page_on_a_terminal_of_40_by_10_matches_the_golden_file) {
  expect_golden("routes-40x10.txt",
                screen_of(seen(after_json(troubled), utf8()), {}, look_of(40, 10, utf8())));
}

TEST(Draw, non_ascii_characters_are_shown_as_codes_if_the_terminal_does_not_use_utf8) {
  const Charset ascii;
  expect_golden("routes-ascii-80x24.txt", screen_of(seen(after_json(), ascii), {}, look_of(80, 24, ascii)));
}

std::string in_english(std::string json) {
  const std::string name = "日本語の検索";
  return json.replace(json.find(name), name.size(), "search");
}

TEST(Draw, readme_screenshot_is_up_to_date) {
  Watch watch(10);
  watch.took(*read_status(in_english(before_json()), nullptr).value, 1000);
  watch.took(*read_status(in_english(after_json(troubled)), nullptr).value, 1010);
  watch.took(*read_requests(stories_json, nullptr).value);
  expect_golden("readme.txt", screen_of(watch, {}, look_of(128, 23, utf8())));
}

TEST(Draw, request_history_page_of_a_route_matches_the_golden_file) {
  const Watch watch = seen(after_json(), utf8());
  expect_golden("stories-100x30.txt", screen_of(watch, on(Page::stories), look_of(100, 30, utf8())));
  expect_golden("stories-40x10.txt", screen_of(watch, on(Page::stories), look_of(40, 10, utf8())));
  View none = on(Page::stories);
  none.route = "nobody";
  EXPECT_NE(screen_of(watch, none, look_of(100, 30, utf8())).find("none in the history"), std::string::npos);
}

TEST(Draw, page_of_one_request_matches_the_golden_file_and_can_be_scrolled) {
  const Watch watch = seen(after_json(), utf8());
  expect_golden("story-80x24.txt", screen_of(watch, on(Page::story), look_of(80, 24, utf8())));
  View scrolled = on(Page::story);
  scrolled.scrolled = 1000;
  const std::string end = screen_of(watch, scrolled, look_of(40, 10, utf8()));
  EXPECT_NE(end.find("recovered"), std::string::npos) << end;
  View gone = on(Page::story);
  gone.story = "1-9";
  EXPECT_NE(screen_of(watch, gone, look_of(80, 24, utf8())).find("no longer"), std::string::npos);
}

TEST(Draw, M113_http2_connections_and_attempts_over_http2_are_shown) {
  std::string json = after_json();
  const std::string from = R"("upstream_connections":)";
  json.replace(json.find(from), from.size(), R"("upstream_http2":{"connections":1,"streams":4},)" + from);
  const Watch watch = seen(json, utf8(), R"([{"id":"1-2e","route":"payments","reason":"success","attempts":[
 {"n":1,"address":"192.0.2.7:443","http":"2","stage":"await_head","error":"stream_reset","reset_code":"cancel",
  "ms":200,"queued_ms":30,"reused":false,"reason":"retryable_failure","retry":true}]}])");
  EXPECT_NE(screen_of(watch, {}, look_of(120, 24, utf8())).find("HTTP/2: 1 connection, 4 streams"),
            std::string::npos);
  const std::string page = screen_of(watch, on(Page::story), look_of(160, 24, utf8()));
  EXPECT_NE(
      page.find("192.0.2.7:443, HTTP/2, 30ms in the queue for a stream; stream_reset (cancel) in stage"),
      std::string::npos)
      << page;
}

TEST(Draw, M113_statuses_of_a_call_are_shown) {
  const Watch watch =
      seen(after_json(), utf8(), R"([{"id":"1-2e","route":"payments","method":"POST","host":"a.test",
 "port":80,"path":"/shop.v1.Orders/Get","status":200,"ending":"complete","reason":"attempts_spent",
 "grpc":{"service":"shop.v1.Orders","method":"Get","status":"unavailable"},"attempts":[
 {"n":1,"status":200,"grpc":"unavailable","ms":2,"reason":"attempts_spent"}]}])");
  const std::string list = screen_of(watch, {}, look_of(160, 24, utf8()));
  EXPECT_NE(list.find(" grpc "), std::string::npos) << list;
  EXPECT_NE(list.find("POST http://a.test/shop.v1.Orders/Get: unavailable"), std::string::npos) << list;
  const std::string page = screen_of(watch, on(Page::story), look_of(160, 24, utf8()));
  EXPECT_NE(page.find("; grpc unavailable after 2"), std::string::npos) << page;
  EXPECT_NE(page.find("grpc unavailable after 0"), std::string::npos) << page;
}

TEST(Draw, page_of_upstreams_and_configuration_matches_the_golden_file) {
  expect_golden("upstreams-80x24.txt",
                screen_of(seen(after_json(troubled), utf8()), on(Page::upstreams), look_of(80, 24, utf8())));
  const std::string none =
      screen_of(seen(after_json(), utf8()), on(Page::upstreams), look_of(80, 24, utf8()));
  EXPECT_NE(none.find("no upstream to report"), std::string::npos) << none;
}

TEST(Draw, help_page_matches_the_golden_file) {
  expect_golden("help-80x40.txt",
                screen_of(seen(after_json(), utf8()), on(Page::help), look_of(80, 40, utf8())));
}

TEST(Draw, lost_connection_is_shown_above_the_last_known_figures) {
  Watch watch = seen(after_json(), utf8());
  watch.lost("no response from the admin listener at 127.0.0.1:3129: Connection refused", 1011);
  watch.lost("no response from the admin listener at 127.0.0.1:3129: Connection refused", 1012);
  Display display = look_of(80, 24, utf8());
  display.now = 1016;
  expect_golden("lost-80x24.txt", screen_of(watch, {}, display));
  display.rows = 10;
  const std::string small = screen_of(watch, {}, display);
  EXPECT_NE(small.find("NO RESPONSE for 00:00:05"), std::string::npos) << small;
  watch.took(*read_status(after_json(), nullptr).value, 1017);
  EXPECT_EQ(screen_of(watch, {}, display).find("NO RESPONSE"), std::string::npos);
}

TEST(Draw, restart_of_the_proxy_is_shown_for_some_seconds) {
  Watch watch = seen(after_json(), utf8());
  watch.took(*read_status(status_json(1, 5, routes_json(1, 5)), nullptr).value, 1011);
  Display display = look_of(80, 24, utf8());
  display.now = 1012;
  EXPECT_NE(screen_of(watch, {}, display).find("RESTARTED"), std::string::npos);
  display.now = 1040;
  EXPECT_EQ(screen_of(watch, {}, display).find("RESTARTED"), std::string::npos);
}

TEST(Draw, paused_display_is_marked) {
  View view;
  view.paused = true;
  EXPECT_NE(screen_of(seen(after_json(), utf8()), view, look_of(40, 10, utf8())).find("PAUSED"),
            std::string::npos);
}

TEST(Draw, header_shows_not_ready_and_draining_and_built_in_defaults_and_a_failed_reload) {
  const auto told = [](std::string json, const std::string& from, const std::string& to) {
    json.replace(json.find(from), from.size(), to);
    return screen_of(seen(json, utf8()), {}, look_of(80, 24, utf8()));
  };
  EXPECT_NE(told(after_json(), R"("ready":true)", R"("ready":false)").find("not ready"), std::string::npos);
  EXPECT_NE(told(after_json(), R"("draining":false)", R"("draining":true)").find("draining"),
            std::string::npos);
  EXPECT_NE(
      told(after_json(), R"("file":"/etc/reprise/reprise.yaml")", R"("file":null)").find("built-in defaults"),
      std::string::npos);
  const std::string small = screen_of(seen(after_json(troubled), utf8()), {}, look_of(80, 10, utf8()));
  EXPECT_NE(small.find("reload FAILED"), std::string::npos) << small;
}

TEST(Draw, address_is_shown_before_the_first_reading) {
  const std::string text = screen_of(Watch(10), {}, look_of(60, 8, utf8()));
  EXPECT_NE(text.find("reprise at 127.0.0.1:3129"), std::string::npos) << text;
}

TEST(Draw, selected_route_of_a_thousand_is_visible_with_its_position) {
  Watch watch(10);
  watch.took(*read_status(status_json(10, 0, routes_json(1000, 0)), nullptr).value, 1);
  watch.took(*read_status(status_json(20, 999, routes_json(1000, 1)), nullptr).value, 11);
  View view;
  const Display display = look_of(80, 24, utf8());
  EXPECT_NE(screen_of(watch, view, display).find(">route-999"), std::string::npos);
  view.route = "route-500";
  const std::string text = screen_of(watch, view, display);
  EXPECT_NE(text.find(">route-500"), std::string::npos) << text;
  EXPECT_NE(text.find("500/1000"), std::string::npos) << text;
}

TEST(Draw, pages_are_not_truncated_from_40_to_200_columns) {
  const Watch watch = seen(after_json(troubled), utf8());
  for (const Page page : {Page::routes, Page::stories, Page::story, Page::upstreams, Page::help}) {
    for (std::size_t columns = 40; columns <= 200; ++columns) {
      for (const std::size_t rows : {10U, 24U, 60U}) {
        const std::string text = screen_of(watch, on(page), look_of(columns, rows, utf8()));
        EXPECT_EQ(text.find("\u2026"), std::string::npos) << columns << "x" << rows << "\n" << text;
      }
    }
  }
}

TEST(Draw, routes_with_most_failures_come_first_until_a_sort_column_is_chosen) {
  const auto json = [](int uptime, int failed) {
    std::string routes = routes_json(20, 10);
    routes +=
        "," + route_json("slow", R"("requests":9,"retries":)" + std::to_string(failed) + R"(,"refused":{})");
    routes += "," + route_json("broken",
                               R"("requests":9,"refused":{"budget_spent":)" + std::to_string(failed) + "}");
    return status_json(uptime, 0, routes);
  };
  Watch watch(10);
  watch.took(*read_status(json(10, 1), nullptr).value, 1);
  watch.took(*read_status(json(20, 5), nullptr).value, 11);
  View view;
  const Display display = look_of(80, 24, utf8());
  const std::string text = screen_of(watch, view, display);
  EXPECT_NE(text.find("MOST PROBLEMS FIRST"), std::string::npos) << text;
  EXPECT_LT(text.find("broken"), text.find("slow")) << text;
  EXPECT_LT(text.find("slow"), text.find("route-19")) << text;
  view = pressed(view, {Key::character, '1'}, watch, display);
  EXPECT_EQ(screen_of(watch, view, display).find("MOST PROBLEMS FIRST"), std::string::npos);
  view = pressed(view, {Key::character, '0'}, watch, display);
  EXPECT_EQ(screen_of(watch, view, display), text);
  view = pressed(view, {Key::character, 'r'}, watch, display);
  EXPECT_EQ(screen_of(watch, view, display).find(">broken"), std::string::npos) << "the other way round";
}

TEST(Draw, N13_https_hosts_that_are_only_tunnelled_are_shown_on_a_small_terminal_too) {
  Watch watch(10);
  watch.took(*read_status(status_json(10, 0, routes_json(1, 0)), nullptr).value, 1);
  const std::string text = screen_of(watch, {}, look_of(60, 10, utf8()));
  EXPECT_NE(text.find("HTTPS not read: api.test:443"), std::string::npos) << text;
}

TEST(Draw, empty_route_list_is_shown) {
  Watch watch(10);
  watch.took(*read_status(status_json(10, 0, ""), nullptr).value, 1);
  EXPECT_NE(screen_of(watch, {}, look_of(80, 24, utf8())).find("no routes"), std::string::npos);
  EXPECT_EQ(chosen_route(watch, {}), "");
}

TEST(Draw, every_page_fits_every_terminal_size) {
  for (const Charset& charset : {utf8(), Charset{}}) {
    Watch watch = seen(after_json(troubled), charset);
    watch.lost("why\x1b[2J", 1010);
    for (const Page page : {Page::routes, Page::stories, Page::story, Page::upstreams, Page::help}) {
      for (const std::size_t columns : {1U, 2U, 3U, 9U, 13U, 20U, 40U, 59U, 80U, 101U, 300U}) {
        for (const std::size_t rows : {1U, 2U, 3U, 5U, 10U, 14U, 16U, 24U, 31U, 100U}) {
          const Display display = look_of(columns, rows, charset);
          expect_fits(draw(watch, on(page), display), display);
        }
      }
    }
  }
}

TEST(Draw, traffic_cannot_inject_terminal_control_sequences) {
  const char* const nasty =
      R"([{"id":"1-1","time":"t","route":"payments","method":"GET","host":"a\u001b[2Jb","port":80,
    "path":"/\u009b31m\u202e\u0301","status":503,"ending":"complete","reason":"not_idempotent","meaning":"m","ms":1e308,
    "attempts":[{"n":1,"at_ms":-5,"ms":1e308,"error":"\u0007","stage":"x"},{"n":2,"at_ms":1e308,"ms":1e308}]}])";
  const Watch watch = seen(after_json(), utf8(), nasty);
  for (const Page page : {Page::routes, Page::stories, Page::story}) {
    View view = on(page);
    view.story = "1-1";
    const Display display = look_of(200, 30, utf8());
    const Screen screen = draw(watch, view, display);
    expect_fits(screen, display);
    EXPECT_NE(text_of(screen).find("a\\u001b[2Jb"), std::string::npos) << text_of(screen);
    EXPECT_NE(text_of(screen).find("\\u202e"), std::string::npos) << text_of(screen);
  }
}

TEST(Screen, each_line_is_redrawn_and_the_rest_cleared) {
  Screen screen;
  screen.push_back(Line("a ", Style::bad).add("b"));
  screen.emplace_back();
  screen.back().add("c", Style::good);
  screen.back().chosen = true;
  EXPECT_EQ(bytes_of(screen, true),
            "\x1b[?2026h\x1b[H\x1b[K\x1b[1;31ma \x1b[0mb\r\n\x1b[J\x1b[7mc\x1b[0m\x1b[?2026l");
  EXPECT_EQ(bytes_of(screen, false),
            "\x1b[?2026h\x1b[H\x1b[K\x1b[1ma \x1b[0mb\r\n\x1b[J\x1b[7mc\x1b[0m\x1b[?2026l");
  EXPECT_EQ(text_of(screen), "a b\nc\n");
}

/// Returns what a terminal shows after those bytes. As in xterm and tmux, a line of full width leaves the
/// cursor on its last character, and an erase to the right erases that character.
std::vector<std::string> shown_by_terminal(std::string_view bytes, std::size_t columns, std::size_t rows) {
  std::vector<std::string> grid(rows, std::string(columns, '#'));
  std::size_t row = 0;
  std::size_t column = 0;
  const auto erase = [&](std::size_t which) {
    const std::size_t from = which == row ? std::min(column, columns - 1) : 0;
    grid[which].replace(from, std::string::npos, columns - from, ' ');
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes.substr(at, 2) == "\x1b[") {
      at = bytes.find_first_of("HKJmhl", at);
      if (bytes[at] == 'H') row = column = 0;
      if (bytes[at] == 'K') erase(row);
      for (std::size_t below = row; bytes[at] == 'J' && below < rows; ++below) erase(below);
    } else if (bytes[at] == '\r') {
      column = 0;
    } else if (bytes[at] == '\n') {
      ++row;
    } else {
      grid.at(row).at(column++) = bytes[at];
    }
  }
  return grid;
}

TEST(Screen, line_of_full_width_keeps_its_last_character) {
  Screen screen;
  for (const char* const text : {"P99 49ms", "short", "the last"}) screen.emplace_back(text);
  EXPECT_EQ(shown_by_terminal(bytes_of(screen, true), 8, 4),
            (std::vector<std::string>{"P99 49ms", "short   ", "the last", "        "}));
}

TEST(Screen, text_of_every_style_is_shown_without_colour) {
  for (const Style style :
       {Style::plain, Style::strong, Style::faint, Style::heading, Style::good, Style::warning, Style::bad}) {
    const std::string bytes = bytes_of({Line("x", style)}, false);
    EXPECT_EQ(bytes.find("3"), std::string::npos) << bytes;
    EXPECT_NE(bytes_of({Line("x", style)}, true).find("x"), std::string::npos);
  }
}

}  // namespace
}  // namespace reprise::tools
