#include "config/given.hpp"

#include <algorithm>
#include <optional>

#include "config/keys/proxy_variables.hpp"
#include "config/keys/rule.hpp"
#include "config/keys/values.hpp"
#include "config/reader.hpp"
#include "proxy/policy/match/condition.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view of_routes = "defaults.";

Node scalar(std::string text) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = std::move(text);
  return node;
}

std::string trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return std::string(text.substr(0, text.find_last_not_of(' ') + 1));
}

Node mapping_of(std::string key, Node value) {
  Node node;
  node.kind = Node::Kind::mapping;
  node.entries.push_back({std::move(key), 0, 0, std::move(value)});
  return node;
}

Node list_of(std::string_view text) {
  Node list;
  list.kind = Node::Kind::list;
  while (true) {
    const std::size_t comma = text.find(',');
    list.items.push_back(scalar(trimmed(text.substr(0, comma))));
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

/// Returns the rule for a list of header names: `{any: [{header: NAME}, ..., {method: idempotent}]}`.
Node rule_of(std::string_view text) {
  Node conditions = list_of(text);
  for (Node& item : conditions.items) item = mapping_of("header", std::move(item));
  conditions.items.push_back(mapping_of("method", scalar(std::string(policy::idempotent_method))));
  return mapping_of("any", std::move(conditions));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Node node_of(const Key& key, const std::string& text) {
  if (key.kind == Kind::list) return list_of(text);
  if (key.kind == Kind::rule) return rule_of(text);
  if (key.kind == Kind::endpoint && is_number(text)) return scalar("127.0.0.1:" + text);
  if (key.kind == Kind::parent && text != "none") return scalar(completed_proxy_url(text));
  return scalar(text);
}

/// Returns the error message for the value; nothing if the value is valid for the key.
std::optional<std::string> complaint_about(const Key& key, const Node& node) {
  if (node.kind == Node::Kind::scalar) return complaint(key, node);
  for (const Node& item : node.items) {
    if (auto message = complaint(key, item)) return message;
  }
  if (key.kind != Kind::rule) return std::nullopt;
  Report report;
  policy::IdempotencyRule ignored;
  read_rule(node, {}, report, ignored);
  const std::vector<Problem> problems = report.take();
  return problems.empty() ? std::nullopt : std::optional(problems.front().message);
}

/// Returns true if the file sets the key at `path`, or if a section on the way to that key is not a mapping
/// in the file.
bool has(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (!path.empty()) {
    if (node->kind != Node::Kind::mapping && node->kind != Node::Kind::nothing) return true;
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    if (node == nullptr) return false;
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return true;
}

/// Sets the value at that path and replaces any existing value.
void put(Node& root, std::string_view path, const Node& value) {
  const std::size_t dot = path.find('.');
  const std::string_view name = path.substr(0, dot);
  if (root.kind != Node::Kind::mapping) {
    root.kind = Node::Kind::mapping;
    root.text.clear();
    root.items.clear();
  }
  auto found = std::find_if(root.entries.begin(), root.entries.end(),
                            [&](const Entry& entry) { return entry.key == name; });
  if (found == root.entries.end())
    found = root.entries.insert(root.entries.end(), {std::string(name), 0, 0, {}});
  if (dot == std::string_view::npos) {
    found->value = value;
  } else {
    put(found->value, path.substr(dot + 1), value);
  }
}

}  // namespace

GivenValues::GivenValues(const Flags& flags, const Environment& environment, Report& report) {
  over_routes_.kind = Node::Kind::mapping;
  const auto variable = [&](std::string_view name) {
    return environment && !name.empty() ? environment(name).value_or("") : std::string();
  };
  for (const Shortcut& shortcut : shortcut_table) {
    std::string source = variable_of(shortcut);
    std::string value = variable(source);
    if (const std::string other = variable(shortcut.alias); !other.empty()) {
      if (!value.empty() && value != other)
        report.error(0, 0, std::string(shortcut.alias),
                     "differs from " + source + ": set only one of the two");
      if (value.empty()) source = std::string(shortcut.alias);
      if (value.empty()) value = other;
    }
    if (!value.empty()) add(shortcut, std::move(source), value, false, report);
    for (const auto& [flag, text] : flags) {
      if (flag == shortcut.flag) add(shortcut, "--" + flag, text, true, report);
    }
  }
}

void GivenValues::add(const Shortcut& shortcut, std::string source, const std::string& text, bool is_flag,
                      Report& report) {
  const Key* const key = find_key(shortcut.path);
  if (key == nullptr) return;
  Node node = node_of(*key, text);
  const bool is_secret = key->kind == Kind::parent && text.find('@') != std::string::npos;
  if (auto message = complaint_about(*key, node)) {
    report.error(0, 0, source, std::move(*message));
    return;
  }
  given_.push_back({source, std::string(shortcut.path), is_secret ? "***" : text, true});
  values_.push_back({&shortcut, std::move(source), std::move(node), is_flag});
}

void GivenValues::put_into(Node& root) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& value = values_[i];
    const std::string_view path = value.shortcut->path;
    given_[i].used = value.is_flag || !has(root, path);
    if (!given_[i].used) continue;
    put(root, path, value.node);
    const bool is_over = value.is_flag && path.starts_with(of_routes) && find_key(path)->kind != Kind::rule;
    if (is_over) put(over_routes_, path.substr(of_routes.size()), value.node);
  }
  // If both the flag and the environment variable of a shortcut are set, the flag wins.
  for (std::size_t i = 0; i + 1 < values_.size(); ++i) {
    if (values_[i].shortcut == values_[i + 1].shortcut) given_[i].used = false;
  }
}

void GivenValues::name_sources(std::vector<Problem>& problems) const {
  for (Problem& problem : problems) {
    if (problem.line > 0) continue;
    for (const Value& value : values_) {
      if (problem.path == value.shortcut->path) problem.path = value.source;
    }
    problem.given = problem.path.starts_with("--") || problem.path.starts_with(variable_prefix);
  }
}

}  // namespace reprise::config
