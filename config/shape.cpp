#include "config/shape.hpp"

#include <algorithm>
#include <utility>

#include "config/keys/keys.hpp"
#include "config/keys/patterns.hpp"
#include "config/keys/predicates.hpp"
#include "config/keys/renamed_keys.hpp"
#include "config/keys/rule.hpp"
#include "config/keys/synonyms.hpp"
#include "config/keys/values.hpp"
#include "config/yaml/yaml_mistake.hpp"
#include "proxy/policy/decision/resume.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::config {
namespace {

// A node, its path for messages, and its path in the key table.
struct Place {
  const Node& node;
  std::string path;
  std::string schema;
};

class ShapeChecker {
 public:
  explicit ShapeChecker(Report& report) : report_(report) {}

  void keys(const Place& place) {
    for (const Entry& entry : place.node.entries) {
      if (report_.full()) return;
      const std::string schema = schema_of(place, entry);
      const Key* key = schema.empty() ? nullptr : find_key(schema);
      if (key == nullptr) {
        unknown(place, entry);
      } else {
        value({entry.value, child_path(place.path, entry.key), schema}, *key);
      }
    }
  }

 private:
  static std::string join(const std::string& parent, std::string_view key) {
    return parent.empty() ? std::string(key) : parent + "." + std::string(key);
  }

  // Returns the path of the entry in the key table. Empty if the entry's name cannot be a key. Below
  // `policies`, any valid name is accepted.
  static std::string schema_of(const Place& place, const Entry& entry) {
    if (place.schema == "policies") return parse_name(entry.key) ? "policies.*" : "";
    const bool dotted = entry.key.find_first_of(".[*") != std::string::npos;
    return dotted || entry.key.empty() ? "" : join(place.schema, entry.key);
  }

  void unknown(const Place& place, const Entry& entry) {
    if (place.schema == "policies") {
      report_.error(entry.line, entry.column, place.path,
                    in_quotes(entry.key) + " " + parse_name(entry.key).reason);
      return;
    }
    std::string meant = missing_blank(place, entry.key) + nested(place, entry.key);
    if (meant.empty()) {
      std::string known = synonym(place.schema, entry.key);
      if (known.empty()) {
        known = likely_key(place.schema, entry.key);
        if (!known.empty()) known.push_back('?');
      }
      if (!known.empty()) meant = " (did you mean " + known + ")";
    }
    report_.error(entry.line, entry.column, place.path, "unknown key " + in_quotes(entry.key) + meant);
  }

  // Returns the end of a message about a dotted key: `: keys are nested, write retry: {on: ...}` for
  // `retry.on`.
  static std::string nested(const Place& place, const std::string& text) {
    if (text.find('.') == std::string::npos || find_key(join(place.schema, text)) == nullptr) return {};
    std::string written;
    std::string closing;
    for (const char c : text) {
      if (c != '.') {
        written.push_back(c);
        continue;
      }
      written.append(": {");
      closing.push_back('}');
    }
    return ": keys are nested, write " + written + ": ..." + closing;
  }

  // Returns the end of a message: ` (did you mean mode: off? ...)` for the text `mode:off`. Empty if the text
  // before the colon is not a key here.
  static std::string missing_blank(const Place& place, const std::string& text) {
    const std::string mended = with_blank_behind_colon(text);
    if (mended.empty() || find_key(join(place.schema, text.substr(0, text.find(':')))) == nullptr) return {};
    return " (did you mean " + printable(mended.substr(0, 60)) + "? write a space after the colon)";
  }

  void error(const Place& place, std::string message) {
    report_.error(place.node.line, place.node.column, place.path, std::move(message));
  }

  void value(const Place& place, const Key& key) {
    const Node& node = place.node;
    if (node.broken) return;
    if (node.kind == Node::Kind::nothing)
      return error(place, "has no value: remove the key, or write " + expectation(key));
    // `parent` has two forms: a URL, or a mapping.
    if (key.path == "parent" && node.kind == Node::Kind::mapping) return keys(place);
    switch (form_of(key.kind)) {
      case Form::mapping: return mapping(place, key);
      case Form::list: return list(place, key);
      case Form::rule: return check_rule(place);
      case Form::predicates: return check_predicates(place);
      case Form::pairs: return check_pairs(place, key);
      case Form::scalar: return scalar(place, key);
    }
  }

  void mapping(const Place& place, const Key& key) {
    if (place.node.kind == Node::Kind::mapping) return keys(place);
    const auto words = split_words(key.words);
    const bool word = place.node.kind == Node::Kind::scalar &&
                      std::find(words.begin(), words.end(), place.node.text) != words.end();
    if (!word)
      error(place, "must be " + expectation(key) + ": this is " + kind_of(place.node) +
                       (missing_blank(place, place.node.text).empty()
                            ? did_you_mean(meant_form(place.schema, key, place.node))
                            : missing_blank(place, place.node.text)));
  }

  void list(const Place& place, const Key& key) {
    if (is_alternative_word(key, place.node)) return;
    if (place.node.kind != Node::Kind::list) {
      return error(place, "must be " + expectation(key) + ": this is " + kind_of(place.node) +
                              did_you_mean(meant_form(place.schema, key, place.node)));
    }
    for (std::size_t i = 0; i < place.node.items.size() && !report_.full(); ++i) {
      const Place item{place.node.items[i], place.path + "[" + std::to_string(i) + "]", place.schema + "[]"};
      if (item.node.broken) continue;
      const Key* lone = key.path == "presets" ? find_key("presets[].name") : nullptr;
      if (lone != nullptr && item.node.kind == Node::Kind::scalar) {
        scalar(item, *lone);
      } else if (key.item != Kind::mapping) {
        scalar(item, key);
      } else if (item.node.kind == Node::Kind::mapping) {
        keys(item);
      } else {
        error(item, "must be a mapping: this is " + kind_of(item.node) + did_you_mean(meant_item(key, item)));
      }
    }
    if (key.item == Kind::version_field) version_fields(place);
  }

  // Suggests `{bind: 127.0.0.1:3128}` for an address in the list of listeners.
  static std::string meant_item(const Key& list, const Place& item) {
    Key section = list;
    section.kind = Kind::mapping;
    return meant_form(item.schema, section, item.node);
  }

  // Rejects a list of version fields that is too long or has a repeated field. Also rejects an empty list,
  // because `resume: off` is the clearer way to disable resuming.
  void version_fields(const Place& place) {
    const std::vector<Node>& items = place.node.items;
    if (items.empty()) return error(place, "is empty: write a field such as etag, or write resume: off");
    if (items.size() > policy::most_validators)
      return error(place, "is too long: at most " + std::to_string(policy::most_validators) + " fields");
    for (auto item = items.begin(); item != items.end(); ++item) {
      const auto is_alike = [&](const Node& other) {
        return !other.text.empty() && policy::equals_ignoring_case(other.text, item->text);
      };
      if (!std::any_of(items.begin(), item, is_alike)) continue;
      const std::string path = place.path + "[" + std::to_string(item - items.begin()) + "]";
      report_.error(item->line, item->column, path, shown(*item) + " is listed twice: remove one of the two");
    }
  }

  void scalar(const Place& place, const Key& key) {
    if (place.node.kind != Node::Kind::scalar) {
      return error(place, key.kind == Kind::list
                              ? "each item must be a single value: this is " + kind_of(place.node)
                              : "must be " + expectation(key) + ": this is " + kind_of(place.node) +
                                    did_you_mean(meant_form(place.schema, key, place.node)));
    }
    if (auto message = complaint(key, place.node)) error(place, std::move(*message));
  }

  void check_rule(const Place& place) {
    policy::IdempotencyRule ignored;
    read_rule(place.node, place.path, report_, ignored);
  }

  void check_predicates(const Place& place) {
    std::vector<policy::BodyPredicate> ignored;
    read_predicates(place.node, place.path, report_, ignored);
  }

  void check_pairs(const Place& place, const Key& key) {
    std::vector<policy::Condition> ignored;
    const bool headers = last_part(key.path) == "headers";
    read_pairs(place.node, headers ? policy::Condition::Kind::header : policy::Condition::Kind::query,
               place.path, report_, ignored);
  }

  static std::string kind_of(const Node& node) {
    switch (node.kind) {
      case Node::Kind::nothing: return "empty";
      case Node::Kind::list: return "a list";
      case Node::Kind::mapping: return "a mapping";
      case Node::Kind::scalar: break;
    }
    return node.origin.empty() ? in_quotes(node.text) : shown(node);
  }

  Report& report_;
};

bool has_word(const Key& key, std::string_view word) {
  const auto words = split_words(key.words);
  return std::find(words.begin(), words.end(), word) != words.end();
}

void undo_yaml_1_1(Node& node, const std::string& schema) {
  for (Entry& entry : node.entries) {
    if (entry.key == "true" && find_key(child_path(schema, "on")) != nullptr && node.find("on") == nullptr)
      entry.key = "on";
    const std::string own = schema == "policies" ? "policies.*" : child_path(schema, entry.key);
    const Key* const key = find_key(own);
    const bool is_off = entry.value.kind == Node::Kind::scalar && entry.value.text == "false";
    if (is_off && key != nullptr && has_word(*key, "off") && !has_word(*key, "false"))
      entry.value.text = "off";
    undo_yaml_1_1(entry.value, own);
  }
  for (Node& item : node.items) undo_yaml_1_1(item, schema + "[]");
}

void rename_keys(Node& node, const std::string& path, const std::string& schema, Report& report) {
  std::erase_if(node.entries, [&](Entry& entry) {
    const std::string own = schema == "policies" ? "policies.*" : child_path(schema, entry.key);
    const auto* const renamed = std::find_if(renamed_keys.begin(), renamed_keys.end(),
                                             [&](const RenamedKey& key) { return key.old_path == own; });
    if (renamed == renamed_keys.end()) {
      rename_keys(entry.value, child_path(path, entry.key), own, report);
      return false;
    }
    const std::string now(renamed->path.substr(renamed->path.rfind('.') + 1));
    const std::string old_path = child_path(path, entry.key);
    if (node.find(now) != nullptr) {
      report.error(entry.line, entry.column, old_path,
                   "is the old name of " + now + ": write only one of the two");
      return true;
    }
    report.warning(entry.line, entry.column, old_path,
                   "is now called " + now + ": the next release will not accept the old name");
    entry.key = now;
    return false;
  });
  for (std::size_t i = 0; i < node.items.size(); ++i)
    rename_keys(node.items[i], path + "[" + std::to_string(i) + "]", schema + "[]", report);
}

}  // namespace

void read_renamed_keys(Node& root, Report& report) { rename_keys(root, {}, {}, report); }

void read_yaml_1_1(Node& root) { undo_yaml_1_1(root, {}); }

void check_shape(const Node& root, Report& report) { ShapeChecker(report).keys({root, {}, {}}); }

}  // namespace reprise::config
