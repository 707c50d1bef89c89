// What a running proxy tells of its last requests.
#include "proxy/server/process/parts.hpp"
#include "proxy/tools/explain/story_report.hpp"

namespace reprise::server {
namespace {

// As many as a page can show, whatever is kept.
constexpr std::size_t most_told = 100;

}  // namespace

std::string Proxy::Parts::advice_for(const telemetry::Story& story) const {
  const auto snapshot = now().snapshot;
  const auto& numbers = snapshot->counted_as;
  const auto found = std::find(numbers.begin(), numbers.end(), story.route);
  if (found == numbers.end()) return {};
  const auto place = static_cast<std::size_t>(found - numbers.begin());
  return tools::advice_for(story, (*snapshot->settings.routes)[place].policy);
}

std::string Proxy::Parts::newest_stories() const {
  std::string out = "[";
  if (stories) {
    for (telemetry::Story& story : stories->newest(most_told)) {
      if (out.size() > 1) out += ",\n";
      story.route_name = log.route_name(story.route);
      telemetry::append_story_json(out, story, advice_for(story));
    }
  }
  return out += "]\n";
}

std::optional<std::string> Proxy::Parts::story(std::string_view id, StoryForm form) const {
  auto found = stories ? stories->find(id) : std::nullopt;
  if (!found) return std::nullopt;
  found->route_name = log.route_name(found->route);
  const std::string advice = advice_for(*found);
  if (form == StoryForm::text) return tools::to_text(*found, advice);
  std::string out;
  telemetry::append_story_json(out, *found, advice);
  return out += "\n";
}

}  // namespace reprise::server
