#include "config/reference/running.hpp"

#include <utility>
#include <vector>

#include "config/keys/scalar.hpp"
#include "config/reference/effective.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view first_line = "# current configuration";
constexpr std::string_view file_mark = "# file: ";
constexpr std::string_view hash_mark = "# hash: ";
constexpr std::string_view place_mark = "# place: ";
constexpr std::string_view hidden = "***";

/// Removes the first line from `text`, and returns it without its line end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Reads where one route is written, from a text such as `12 orders-write` (line and name), or `5 gcs/batch
/// gcs` (line, name and preset) for a route of a preset.
void read_place(std::string_view text, RunningText& running) {
  const std::size_t blank = text.find(' ');
  const auto line = parse_whole(text.substr(0, blank));
  if (!line || blank == std::string_view::npos) return;
  text.remove_prefix(blank + 1);
  const std::size_t end = text.find(' ');
  RoutePlace place{static_cast<std::size_t>(*line.value), {}};
  if (end != std::string_view::npos) place.preset = text.substr(end + 1);
  running.places.emplace(text.substr(0, end), std::move(place));
}

}  // namespace

std::string running_text(const Settings& settings, const std::string& file, const std::string& hash) {
  std::string text(first_line);
  text.append("\n");
  if (!file.empty())
    text.append(file_mark).append(file).append("\n").append(hash_mark).append(hash).append("\n");
  for (std::size_t i = 0; i < settings.routes->size(); ++i) {
    const policy::Route& route = (*settings.routes)[i];
    text.append(place_mark).append(std::to_string(route.line)).append(" ").append(route.name);
    text.append(route.source.empty() ? "" : " ").append(route.source).append("\n");
  }
  return text + effective_yaml(settings);
}

RunningText read_running(std::string_view text) {
  RunningText running;
  if (take_line(text) != first_line) return running;
  while (text.starts_with('#')) {
    const std::string_view line = take_line(text);
    if (line.starts_with(file_mark)) running.file = line.substr(file_mark.size());
    if (line.starts_with(hash_mark)) running.hash = line.substr(hash_mark.size());
    if (line.starts_with(place_mark)) read_place(line.substr(place_mark.size()), running);
  }
  // A configuration with the password `***` does not load, so another password replaces the `***`.
  const std::string password = ":" + std::string(hidden) + "@";
  while (!text.empty()) {
    std::string line(take_line(text));
    const std::size_t at = line.find(password);
    if (line.starts_with("parent:") && at != std::string::npos) line.replace(at, password.size(), ":hidden@");
    running.yaml.append(line).append("\n");
  }
  return running;
}

void place_routes(const RunningText& running, Settings& settings) {
  std::vector<policy::Route> routes;
  for (std::size_t i = 0; i < settings.routes->size(); ++i) {
    policy::Route& route = routes.emplace_back((*settings.routes)[i]);
    const auto place = running.places.find(route.name);
    route.line = place == running.places.end() ? 0 : place->second.line;
    if (place != running.places.end()) route.source = place->second.preset;
  }
  policy::Route fallback = std::move(routes.back());
  routes.pop_back();
  settings.routes = std::make_shared<const policy::RouteTable>(std::move(routes), std::move(fallback));
}

}  // namespace reprise::config
