#include "proxy/tools/top/view.hpp"

#include <algorithm>

#include "proxy/tools/top/columns.hpp"

namespace reprise::tools {
namespace {

// Returns the index to which the key moves from `place` in a list of `size` items. `page` is the number of
// items on a page.
std::size_t moved(Key key, std::size_t place, std::size_t size, std::size_t page) {
  if (size == 0) return 0;
  const std::size_t last = size - 1;
  switch (key) {
    case Key::up: return place - std::min<std::size_t>(place, 1);
    case Key::down: return std::min(place + 1, last);
    case Key::page_up: return place - std::min(place, page);
    case Key::page_down: return std::min(place + page, last);
    case Key::home: return 0;
    case Key::end: return last;
    case Key::character:
    case Key::enter:
    case Key::escape: break;
  }
  return std::min(place, last);
}

// Returns the motion key for a letter, as in less and vi. Some keyboards have no motion keys.
Key as_motion(const KeyPress& press) {
  if (press.key != Key::character) return press.key;
  switch (press.character) {
    case 'k': return Key::up;
    case 'j': return Key::down;
    case 'b': return Key::page_up;
    case ' ': return Key::page_down;
    case 'g': return Key::home;
    case 'G': return Key::end;
    default: return Key::character;
  }
}

void move_route(View& view, Key key, const Watch& watch, std::size_t page) {
  const auto routes = sorted_routes(watch, view);
  if (routes.empty()) return;
  const std::size_t place = place_in(routes, [&](const RouteFigures& one) { return one.name == view.route; });
  view.route = routes[moved(key, place, routes.size(), page)].name;
}

void move_request(View& view, Key key, const Watch& watch, std::size_t page) {
  const auto stories = requests_of_route(watch, view);
  if (stories.empty()) return;
  const std::size_t place =
      place_in(stories, [&](const RequestReading& one) { return one.id == view.story; });
  view.story = stories[moved(key, place, stories.size(), page)].id;
}

void move_text(View& view, Key key, std::size_t page) {
  // A number of lines that no page has. `draw` limits the scroll position to the lines of the page.
  constexpr std::size_t far = 1'000'000;
  view.scrolled = moved(key, view.scrolled, far, page);
}

void move(View& view, Key key, const Watch& watch, const Display& display) {
  const std::size_t page = std::max<std::size_t>(2, display.rows / 2);
  switch (view.page) {
    case Page::routes: return move_route(view, key, watch, page);
    case Page::stories: return move_request(view, key, watch, page / 2);
    case Page::story:
    case Page::upstreams:
    case Page::help: return move_text(view, key, page);
  }
}

void open(View& view, Page page) {
  if (view.page == page) return;
  if (view.page != Page::upstreams && view.page != Page::help) view.back = view.page;
  view.page = page;
  view.scrolled = 0;
}

void enter(View& view, const Watch& watch) {
  if (view.page == Page::routes) {
    view.route = chosen_route(watch, view);
    if (view.route.empty()) return;
    view.page = Page::stories;
    view.story.clear();
  } else if (view.page == Page::stories) {
    const auto stories = requests_of_route(watch, view);
    if (stories.empty()) return;
    view.story =
        stories[place_in(stories, [&](const RequestReading& one) { return one.id == view.story; })].id;
    view.page = Page::story;
    view.scrolled = 0;
  }
}

void go_back(View& view) {
  if (view.page == Page::story) {
    view.page = Page::stories;
  } else if (view.page == Page::stories) {
    view.page = Page::routes;
  } else if (view.page != Page::routes) {
    view.page = view.back;
  }
  view.scrolled = 0;
}

void sort_by(View& view, std::size_t column) {
  view.sorted_by = static_cast<Column>(column % column_count);
  view.is_sorted = true;
  view.reversed = false;
}

void press_character(View& view, char character) {
  if (character >= '1' && character <= '9') return sort_by(view, static_cast<std::size_t>(character - '1'));
  switch (character) {
    case 's': return sort_by(view, static_cast<std::size_t>(view.sorted_by) + 1);
    case '0':
      view.sorted_by = View().sorted_by;
      view.is_sorted = view.reversed = false;
      break;
    case 'r': view.reversed = !view.reversed; break;
    case 'p': view.paused = !view.paused; break;
    case 'u': return open(view, Page::upstreams);
    case '?':
    case 'h': return open(view, Page::help);
    case 'q': view.quits = true; break;
    default: break;
  }
}

}  // namespace

View pressed(View view, const KeyPress& press, const Watch& watch, const Display& display) {
  const Key key = as_motion(press);
  if (key == Key::character) {
    press_character(view, press.character);
  } else if (key == Key::enter) {
    enter(view, watch);
  } else if (key == Key::escape) {
    go_back(view);
  } else {
    move(view, key, watch, display);
  }
  return view;
}

std::vector<RouteFigures> sorted_routes(const Watch& watch, const View& view) {
  auto routes = watch.routes();
  const ColumnOutline& column = outline_of(view.sorted_by);
  const bool by_name = view.sorted_by == Column::route;
  if (is_by_trouble(routes.size(), view)) {
    std::stable_sort(routes.begin(), routes.end(), [&](const RouteFigures& one, const RouteFigures& other) {
      return view.reversed ? one.trouble < other.trouble : one.trouble > other.trouble;
    });
    return routes;
  }
  std::stable_sort(routes.begin(), routes.end(), [&](const RouteFigures& one, const RouteFigures& other) {
    if (by_name) return view.reversed ? other.name < one.name : one.name < other.name;
    const auto first = column.figure(one);
    const auto second = column.figure(other);
    if (!first || !second) return first.has_value() && !second;
    return view.reversed ? *first < *second : *first > *second;
  });
  return routes;
}

bool is_by_trouble(std::size_t routes, const View& view) {
  constexpr std::size_t few = 12;
  return routes > few && !view.is_sorted;
}

std::string chosen_route(const Watch& watch, const View& view) {
  const auto routes = sorted_routes(watch, view);
  if (routes.empty()) return {};
  return routes[place_in(routes, [&](const RouteFigures& one) { return one.name == view.route; })].name;
}

std::vector<RequestReading> requests_of_route(const Watch& watch, const View& view) {
  std::vector<RequestReading> stories;
  for (const RequestReading& story : watch.stories())
    if (story.route == view.route) stories.push_back(story);
  return stories;
}

}  // namespace reprise::tools
