#include "config/keys/predicates.hpp"

#include <algorithm>
#include <utility>

#include "config/keys/keys.hpp"
#include "config/keys/patterns.hpp"
#include "config/keys/scalar.hpp"

namespace reprise::config {
namespace {

using policy::BodyPredicate;

constexpr std::size_t most_predicates = 16;
constexpr std::size_t most_patterns = 32;
constexpr std::size_t longest_pattern = 256;

// Returns true for non-empty names separated by dots.
bool is_path(std::string_view text) {
  return !text.empty() && text.front() != '.' && text.back() != '.' && text.find("..") == std::string::npos;
}

bool is_element_path(std::string_view text) {
  return is_path(text) && text.find_first_of(" \t<>&/:\"'=") == std::string_view::npos;
}

class PredicateReader {
 public:
  explicit PredicateReader(Report& report) : report_(report) {}

  bool read(const Node& node, const std::string& path, BodyPredicate& predicate) {
    if (node.broken) return false;
    if (node.kind != Node::Kind::mapping) return refuse(node, path, "this is not a predicate: ");
    bool all_right = true;
    for (const Entry& entry : node.entries) {
      const bool right = read_entry(entry, path, predicate);
      all_right = all_right && right;
    }
    if (!all_right) return false;
    const std::string_view why = contradiction(predicate);
    return why.empty() || refuse(node, path, std::string(why));
  }

  bool refuse(const Node& node, const std::string& path, const std::string& why) {
    report_.error(node.line, node.column, path, why + "write " + std::string(predicate_form));
    return false;
  }

 private:
  static std::string_view contradiction(const BodyPredicate& predicate) {
    const bool json = !predicate.json.empty(), xml = !predicate.xml.empty(),
               header = !predicate.header.empty();
    const int places = (json ? 1 : 0) + (xml ? 1 : 0) + (header ? 1 : 0);
    if (places > 1) return "json, xml and header each need a predicate of their own: ";
    if (places == 0 && predicate.event.empty()) return "json, xml, header and event are all missing: ";
    if (!predicate.event.empty() && (xml || header))
      return "event can be combined with json, but not with xml or header: ";
    if (predicate.value.equals && !predicate.value.matches.empty())
      return "equals and matches cannot be combined: ";
    if (places == 0 && predicate.value.reads_text()) return "equals and matches need json, xml or header: ";
    return {};
  }

  bool read_entry(const Entry& entry, const std::string& path, BodyPredicate& predicate) {
    if (std::find(predicate_keys.begin(), predicate_keys.end(), entry.key) == predicate_keys.end()) {
      const std::string_view meant = nearest(entry.key, {predicate_keys.begin(), predicate_keys.end()});
      report_.error(entry.line, entry.column, path,
                    "unknown key " + in_quotes(entry.key) + ": write " + std::string(predicate_form) +
                        did_you_mean(meant));
      return false;
    }
    if (entry.value.broken) return false;
    const std::string place = child_path(path, entry.key);
    if (entry.key == "matches") return read_patterns(entry.value, place, predicate.value.matches);
    if (entry.value.kind != Node::Kind::scalar) return refuse(entry.value, place, "must be a text: ");
    return read_scalar(entry, place, predicate);
  }

  bool read_scalar(const Entry& entry, const std::string& place, BodyPredicate& predicate) {
    const std::string& text = entry.value.text;
    if (entry.key == "status") return read_status(entry.value, place, predicate);
    if (entry.key == "refused") {
      const Parsed<bool> refused = parse_boolean(text);
      if (!refused) return refuse(entry.value, place, shown(entry.value) + " is neither true nor false: ");
      predicate.refused = *refused.value;
    } else if (entry.key == "equals") {
      predicate.value.equals = text;
    } else if (entry.key == "event") {
      if (text.empty()) return refuse(entry.value, place, "the name of the event is empty: ");
      predicate.event = text;
    } else if (entry.key == "json") {
      if (!is_path(text))
        return refuse(entry.value, place, shown(entry.value) + " is not a path such as error.type: ");
      predicate.json = text;
    } else if (entry.key == "xml") {
      if (!is_element_path(text))
        return refuse(entry.value, place,
                      shown(entry.value) + " is not an element such as Code or Error.Code: ");
      predicate.xml = text;
    } else {
      if (!parse_condition(policy::Condition::Kind::header, text) || text.find('=') != std::string::npos)
        return refuse(entry.value, place, shown(entry.value) + " is not the name of a field: ");
      predicate.header = text;
    }
    return true;
  }

  bool read_status(const Node& node, const std::string& place, BodyPredicate& predicate) {
    const Parsed<StatusRange> range = parse_statuses(node.text);
    predicate.status = range.value;
    if (range) return true;
    report_.error(node.line, node.column, place,
                  shown(node) + " " + range.reason + did_you_mean(range.suggestion));
    return false;
  }

  bool read_patterns(const Node& node, const std::string& place, std::vector<std::string>& patterns) {
    if (node.kind == Node::Kind::scalar) return read_pattern(node, place, patterns);
    if (node.kind != Node::Kind::list || node.items.empty() || node.items.size() > most_patterns)
      return refuse(node, place, "must be a pattern, or a list of 1 to 32 patterns: ");
    bool all_right = true;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const bool right = read_pattern(node.items[i], place + "[" + std::to_string(i) + "]", patterns);
      all_right = all_right && right;
    }
    return all_right;
  }

  bool read_pattern(const Node& node, const std::string& place, std::vector<std::string>& patterns) {
    if (node.broken) return false;
    if (node.kind != Node::Kind::scalar || node.text.empty() || node.text.size() > longest_pattern)
      return refuse(node, place, "a pattern is a text such as *Throttling*, of up to 256 characters: ");
    patterns.push_back(node.text);
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
    reader.refuse(node, path, "the list must have 1 to 16 predicates: ");
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
