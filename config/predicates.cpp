#include "config/predicates.hpp"

#include <utility>

#include "config/keys.hpp"

namespace reprise::config {
namespace {

using policy::BodyPredicate;

constexpr std::size_t most_predicates = 16;
constexpr std::string_view form = "write {json: PATH, equals: TEXT}, {event: NAME}, or a list of these";

// Keys with dots between them: none of them empty.
bool is_path(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' && text.find("..") == std::string::npos;
}

class PredicateReader {
 public:
  explicit PredicateReader(Report& report) : report_(report) {}

  bool read(const Node& node, const std::string& path, BodyPredicate& predicate) {
    if (node.broken) return false;
    if (node.kind != Node::Kind::mapping) return refuse(node, path, "this is no predicate: ");
    bool all_right = true;
    for (const Entry& entry : node.entries) {
      const bool right = read_entry(entry, path, predicate);
      all_right = all_right && right;
    }
    if (!all_right) return false;
    if (predicate.event.empty() && predicate.json.empty())
      return refuse(node, path, "neither json nor event is there: ");
    if (predicate.equals && predicate.json.empty())
      return refuse(node, path, "equals needs the json path of a value: ");
    return true;
  }

  bool refuse(const Node& node, const std::string& path, const std::string& why) {
    report_.error(node.line, node.column, path, why + std::string(form));
    return false;
  }

 private:
  bool read_entry(const Entry& entry, const std::string& path, BodyPredicate& predicate) {
    const bool known = entry.key == "json" || entry.key == "equals" || entry.key == "event";
    if (!known) {
      const std::string_view meant = nearest(entry.key, {"json", "equals", "event"});
      report_.error(entry.line, entry.column, path,
                    "unknown key " + quoted(entry.key) + ": " + std::string(form) +
                        (meant.empty() ? "" : " (did you mean " + std::string(meant) + "?)"));
      return false;
    }
    if (entry.value.broken) return false;
    const std::string place = child_path(path, entry.key);
    if (entry.value.kind != Node::Kind::scalar) return refuse(entry.value, place, "needs a text: ");
    if (entry.key == "equals") {
      predicate.equals = entry.value.text;
    } else if (entry.key == "event") {
      if (entry.value.text.empty()) return refuse(entry.value, place, "an event has a name: ");
      predicate.event = entry.value.text;
    } else {
      if (!is_path(entry.value.text))
        return refuse(entry.value, place, shown(entry.value) + " is no path such as error.type: ");
      predicate.json = entry.value.text;
    }
    return true;
  }

  Report& report_;
};

}  // namespace

void read_predicates(const Node& node, const std::string& path, Report& report,
                     std::vector<BodyPredicate>& predicates) {
  PredicateReader reader(report);
  std::vector<BodyPredicate> read;
  if (node.kind != Node::Kind::list) {
    if (reader.read(node, path, read.emplace_back())) predicates = std::move(read);
    return;
  }
  if (node.items.empty() || node.items.size() > most_predicates) {
    reader.refuse(node, path, "this has no predicate, or more than 16: ");
    return;
  }
  bool all_right = true;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const bool right = reader.read(node.items[i], path + "[" + std::to_string(i) + "]", read.emplace_back());
    all_right = all_right && right;
  }
  if (all_right) predicates = std::move(read);
}

}  // namespace reprise::config
