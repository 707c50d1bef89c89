#include "config/keys/rule.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "config/keys/keys.hpp"
#include "config/keys/patterns.hpp"

namespace reprise::config {
namespace {

using policy::Condition;
using policy::condition_words;
using policy::IdempotencyRule;
using policy::rule_words;

constexpr std::string_view rule_form = "write always, never, by_method, {any: [...]} or {all: [...]}";
constexpr std::string_view condition_form =
    "write one of {header: NAME[=value]}, {query: NAME[=value]}, {json: KEY} or {method: NAME}";

// Returns the rule that the word `text` names, with no conditions. Returns nothing if `text` is not the word
// of a rule.
std::optional<IdempotencyRule> rule_called(std::string_view text) {
  const auto word = std::find(rule_words.begin(), rule_words.end(), text);
  if (word == rule_words.end()) return std::nullopt;
  return IdempotencyRule{static_cast<IdempotencyRule::Kind>(word - rule_words.begin()), {}};
}

// Returns the words of the rules that take conditions, or the words of the rules that take none.
std::vector<std::string_view> words_of_rules(bool with_conditions) {
  std::vector<std::string_view> words;
  std::copy_if(rule_words.begin(), rule_words.end(), std::back_inserter(words),
               [&](std::string_view word) { return rule_called(word)->has_conditions() == with_conditions; });
  return words;
}

// Suggests `always` or `never` for a boolean word, and the most similar rule word for any other text.
std::string_view meant_by(std::string_view text) {
  for (const std::string_view on : {"true", "yes", "on"}) {
    if (text == on) return word(IdempotencyRule::Kind::always);
  }
  for (const std::string_view off : {"false", "no", "off"}) {
    if (text == off) return word(IdempotencyRule::Kind::never);
  }
  return nearest(text, words_of_rules(false));
}

bool is_text(const Node& node) {
  return node.kind == Node::Kind::scalar && node.origin.empty() && !node.broken && node.text.size() <= 40;
}

/// Returns the condition that the text probably means, such as `{method: POST}` or `{header:
/// Idempotency-Key}`. Empty if the text is neither a method nor a header name.
std::string condition_of(const Node& node) {
  if (!is_text(node)) return {};
  const bool is_method =
      !node.text.empty() && node.text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
  const auto kind = is_method ? Condition::Kind::method : Condition::Kind::header;
  if (!parse_condition(kind, node.text) || (!is_method && node.text.find('-') == std::string::npos))
    return {};
  return "{" + std::string(word(kind)) + ": " + node.text + "}";
}

/// Suggests a rule for a list, such as `{any: [{method: POST}]}` for `[POST]`.
std::string meant_by(const Node& list) {
  std::string conditions;
  for (const Node& item : list.items) {
    const std::string condition = condition_of(item);
    if (condition.empty()) return {};
    conditions.append(conditions.empty() ? "" : ", ").append(condition);
  }
  return conditions.empty() ? conditions : "{any: [" + conditions + "]}";
}

class RuleReader {
 public:
  explicit RuleReader(Report& report) : report_(report) {}

  void read(const Node& node, const std::string& path, IdempotencyRule& rule) {
    if (node.kind == Node::Kind::scalar) return read_word(node, path, rule);
    if (node.kind != Node::Kind::mapping || node.entries.size() != 1)
      return error(node, path,
                   "this is not a rule: " + std::string(rule_form) + did_you_mean(meant_by(node)));
    const Entry& entry = node.entries.front();
    auto read = rule_called(entry.key);
    if (!read || !read->has_conditions()) {
      const bool lone =
          std::find(condition_words.begin(), condition_words.end(), entry.key) != condition_words.end();
      return report_.error(entry.line, entry.column, path,
                           "unknown key " + in_quotes(entry.key) + ": " + std::string(rule_form) +
                               (lone ? did_you_mean("any: [{" + entry.key + ": ...}]")
                                     : did_you_mean(nearest(entry.key, words_of_rules(true)))));
    }
    if (read_conditions(entry.value, child_path(path, entry.key), read->conditions)) rule = std::move(*read);
  }

 private:
  void error(const Node& node, const std::string& path, std::string message) {
    report_.error(node.line, node.column, path, std::move(message));
  }

  void read_word(const Node& node, const std::string& path, IdempotencyRule& rule) {
    auto read = rule_called(node.text);
    if (read && !read->has_conditions()) {
      rule = std::move(*read);
      return;
    }
    std::string near(node.origin.empty() ? meant_by(node.text) : "");
    if (const std::string condition = condition_of(node); near.empty() && !condition.empty())
      near = "{any: [" + condition + "]}";
    error(node, path, shown(node) + " is not a rule: " + std::string(rule_form) + did_you_mean(near));
  }

  bool read_conditions(const Node& list, const std::string& path, std::vector<Condition>& conditions) {
    if (list.kind != Node::Kind::list || list.items.empty()) {
      const bool lone = list.kind == Node::Kind::mapping && list.entries.size() == 1 &&
                        std::find(condition_words.begin(), condition_words.end(), list.entries.front().key) !=
                            condition_words.end();
      error(list, path,
            "a rule needs a list with at least one condition: " + std::string(condition_form) +
                did_you_mean(lone ? "[{" + list.entries.front().key + ": ...}]" : ""));
      return false;
    }
    bool all_right = true;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const bool right = read_condition(list.items[i], path + "[" + std::to_string(i) + "]", conditions);
      all_right = all_right && right;
    }
    return all_right;
  }

  bool read_condition(const Node& node, const std::string& path, std::vector<Condition>& conditions) {
    if (node.broken) return false;
    if (node.kind != Node::Kind::mapping || node.entries.size() != 1) {
      error(node, path,
            "this is not a condition: " + std::string(condition_form) +
                did_you_mean(node.text == "by_method" ? "{method: idempotent}" : condition_of(node)));
      return false;
    }
    const Entry& entry = node.entries.front();
    const auto word = std::find(condition_words.begin(), condition_words.end(), entry.key);
    if (word == condition_words.end()) {
      report_.error(entry.line, entry.column, path,
                    "unknown key " + in_quotes(entry.key) + ": " + std::string(condition_form) +
                        did_you_mean(nearest(entry.key, {condition_words.begin(), condition_words.end()})));
      return false;
    }
    if (entry.value.broken) return false;
    const std::string place = child_path(path, entry.key);
    if (entry.value.kind != Node::Kind::scalar) {
      error(entry.value, place, "the value of a condition must be a text: " + std::string(condition_form));
      return false;
    }
    auto condition =
        parse_condition(static_cast<Condition::Kind>(word - condition_words.begin()), entry.value.text);
    if (!condition) {
      const bool secret = !entry.value.origin.empty();
      error(entry.value, place,
            shown(entry.value) + " " + condition.reason + (secret ? "" : did_you_mean(condition.suggestion)));
      return false;
    }
    conditions.push_back(std::move(*condition.value));
    return true;
  }

  Report& report_;
};

}  // namespace

void read_rule(const Node& node, const std::string& path, Report& report, IdempotencyRule& rule) {
  RuleReader(report).read(node, path, rule);
}

void read_pairs(const Node& node, Condition::Kind kind, const std::string& path, Report& report,
                std::vector<Condition>& pairs) {
  std::vector<Condition> read;
  bool all_right = true;
  const auto add = [&](const Node& at, const std::string& place, const std::string& name,
                       const std::string& text) {
    auto condition = parse_condition(kind, text);
    if (condition && condition.value->value == "*") condition.value->value.clear();
    if (condition) return read.push_back(std::move(*condition.value));
    all_right = false;
    const std::string what = name.empty() ? shown(at) : in_quotes(name);
    report.error(
        at.line, at.column, place,
        what + " " + condition.reason + (at.origin.empty() ? did_you_mean(condition.suggestion) : ""));
  };
  const auto refuse = [&](const Node& at, const std::string& place) {
    all_right = false;
    report.error(at.line, at.column, place,
                 "write a list of name or name=value, or a mapping of names to values");
  };
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const Node& item = node.items[i];
    const std::string place = path + "[" + std::to_string(i) + "]";
    if (item.broken) continue;
    item.kind == Node::Kind::scalar ? add(item, place, {}, item.text) : refuse(item, place);
  }
  for (const Entry& entry : node.entries) {
    const Node& value = entry.value;
    const std::string place = child_path(path, entry.key);
    if (value.broken) continue;
    if (entry.key.find('=') != std::string::npos || value.kind == Node::Kind::list ||
        value.kind == Node::Kind::mapping) {
      refuse(value, place);
      continue;
    }
    const bool any = value.kind == Node::Kind::nothing;
    add(value, place, entry.key, any ? entry.key : entry.key + "=" + value.text);
  }
  if (node.kind == Node::Kind::scalar || node.kind == Node::Kind::nothing) refuse(node, path);
  if (all_right) pairs = std::move(read);
}

}  // namespace reprise::config
