// What readers of /events are told of a running proxy.
#include <algorithm>
#include <utility>

#include "proxy/server/admin/event_text.hpp"
#include "proxy/server/process/parts.hpp"
#include "proxy/telemetry/metrics/status.hpp"

namespace reprise::server {
namespace {

// As many as can be looked at, however many there are in a second.
constexpr std::size_t most_stories = 30;

bool has(const std::vector<std::uint64_t>& numbers, std::uint64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::string without_end(std::string line) {
  line.pop_back();
  return line;
}

}  // namespace

// A route is told of again once something has ended on it: all that it counts is counted then.
Edition Proxy::Parts::edition(bool whole) {
  const Current in_force = now();
  const config::Settings& settings = in_force.snapshot->settings;
  telemetry::StatusFacts facts = status_facts(in_force);
  const telemetry::Metrics::Totals totals = metrics.totals();
  const bool same_routes =
      in_force.hash == edition_before.hash && facts.routes.size() == edition_before.requests.size();
  telemetry::RouteChoice moved;
  for (std::size_t i = 0; i < facts.routes.size(); ++i)
    moved.push_back(!same_routes || facts.routes[i].requests != edition_before.requests[i]);
  Edition edition;
  // A reader that has seen the minute go by needs only what is new, unless the routes are others now.
  if (whole || !same_routes) add_minute(facts, in_force);
  std::optional<telemetry::StatusMinute> minute;
  if (same_routes) minute.swap(facts.minute);
  append_event(edition.changes, same_routes ? "change" : "status",
               without_end(telemetry::status_json(facts, settings, totals, moved)));
  append_new_stories(edition.changes);
  // Last, so that what ends meanwhile is told twice and never missed: stories have an id.
  if (minute) facts.minute.swap(minute);
  if (whole)
    append_event(edition.whole, "status", without_end(telemetry::status_json(facts, settings, totals)));
  if (whole) append_event(edition.whole, "stories", without_end(newest_stories()));
  edition_before.hash = in_force.hash;
  edition_before.requests.clear();
  for (const auto& route : facts.routes) edition_before.requests.push_back(route.requests);
  return edition;
}

void Proxy::Parts::append_new_stories(std::string& events) {
  if (!stories) return;
  std::vector<std::uint64_t> numbers;
  for (telemetry::Story& story : stories->newest(most_stories)) {
    numbers.push_back(story.number);
    if (has(edition_before.stories, story.number)) continue;
    story.route_name = log.route_name(story.route);
    std::string text;
    telemetry::append_story_json(text, story, advice_for(story));
    append_event(events, "story", text);
  }
  edition_before.stories = std::move(numbers);
}

}  // namespace reprise::server
