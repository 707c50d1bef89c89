#include "proxy/tools/inject/environment.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "proxy/tools/environment/client_environment.hpp"
#include "proxy/tools/inject/sidecar.hpp"

namespace reprise::tools {
namespace {

using Present = std::map<std::string, const Node*, std::less<>>;

/// Returns the name in the other spelling: `http_proxy` for `HTTP_PROXY`, and the reverse.
std::string other_spelling(std::string name) {
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') {
      c = static_cast<char>(c - 'a' + 'A');
    } else if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return name;
}

const Node* entry_of(const Present& present, std::string_view name) {
  const auto found = present.find(name);
  return found == present.end() ? nullptr : found->second;
}

/// Returns the value of the variable that `env` sets as a literal text; nothing if `env` does not set the
/// variable, or sets it with valueFrom.
std::optional<std::string> literal(const Present& present, std::string_view name) {
  const Node* entry = entry_of(present, name);
  if (entry == nullptr || entry->find("valueFrom") != nullptr) return std::nullopt;
  return std::string(entry->word("value"));
}

Variables variables_for(const Present& present) {
  Variables variables =
      client_environment("127.0.0.1", 3128, [&](const std::string& name) -> std::optional<std::string> {
        std::optional<std::string> own = literal(present, name);
        if (name != "NO_PROXY") return own;
        return own.value_or("") + "," + std::string(direct_names);
      });
  // JAVA_TOOL_OPTIONS is extended if the container sets it, but never added: a new variable would hide the
  // JAVA_TOOL_OPTIONS of the image.
  if (!literal(present, "JAVA_TOOL_OPTIONS"))
    std::erase_if(variables, [](const auto& variable) { return variable.first == "JAVA_TOOL_OPTIONS"; });
  return variables;
}

Addition addition(const std::string& name, const std::string& key, const std::string& json) {
  return {"{name: " + name + ", " + key + ": " + json + "}\n",
          "{\"name\": " + json_string(name) + ", \"" + key + "\": " + json + "}"};
}

/// Returns true for a variable that names a proxy; false for no_proxy and NO_PROXY.
bool names_proxy(const std::string& name) {
  return other_spelling(name).ends_with("_PROXY") != name.ends_with("_PROXY") && !name.starts_with("no_") &&
         !name.starts_with("NO_");
}

void change(const Node& entry, const std::string& name, const std::string& wanted, const std::string& place,
            Edits& edits, std::vector<Fault>& remarks, Undo& undo) {
  const std::string json = json_string(wanted);
  const std::string_view before = entry.word("value");
  if (before == wanted) return;
  if (names_proxy(name)) {
    const char* const was =
        before.empty() ? " was empty, which means no proxy, and now names reprise: if this container must "
                         "not use reprise, set reprise.dev/inject: \"false\" for its pod"
                       : " named another proxy and now names reprise: if reprise must use that proxy, set it "
                         "as parent in the configuration of reprise";
    remarks.push_back({entry.line, entry.column, name + was});
  }
  const Entry* value = entry.own("value");
  if (value == nullptr) {
    edits.add_entries(entry, 0, {{"value: " + json + "\n", "\"value\": " + json}});
    undo.had_none(place);
  } else if (value->value->kind == Node::Kind::nothing) {
    undo.had_null(place, edits.written_null(*value));
    edits.fill(*value, json);
  } else {
    undo.had_value(place, edits.replace(*value->value, json));
  }
}

/// Collects the entries of `env` in `present`, by name. Returns a fault if `env` is not a list, or if a
/// variable that reprise sets appears twice in it.
std::optional<Fault> read_environment(const Node& env, Present& present) {
  if (env.kind != Node::Kind::list && env.kind != Node::Kind::nothing)
    return Fault{env.line, env.column, "env is not a list"};
  for (const Node* item : env.items) {
    const std::string name(item->word("name"));
    if (!present.emplace(name, item).second && is_proxy_variable(name))
      return Fault{item->line, item->column, name + " is set twice: remove one of them"};
  }
  return std::nullopt;
}

/// Returns the index of the container's entry before which a new `env` is inserted.
std::size_t place_for_env(const Node& container) {
  constexpr std::string_view first[] = {"name", "image",      "imagePullPolicy", "command",
                                        "args", "workingDir", "ports",           "envFrom"};
  for (std::size_t i = 1; i < container.entries.size(); ++i) {
    const std::string& key = container.entries[i].key->text;
    if (std::find(std::begin(first), std::end(first), key) == std::end(first)) return i;
  }
  return container.entries.size() > 1 ? 1 : 0;
}

/// Counts the items, from `item` on, whose names are in reprise's list of variables, in the order of that
/// list. Stops at the first item with another name.
template <typename Item, typename Name>
std::size_t run_of(Item item, Item last_item, Name name, Name last_name) {
  std::size_t count = 0;
  for (; item != last_item; ++item, ++name, ++count) {
    name = std::find_if(name, last_name, [&](const auto& one) { return one.first == (*item)->word("name"); });
    if (name == last_name) break;
  }
  return count;
}

}  // namespace

bool is_proxy_variable(std::string_view name) {
  static const Variables ours = client_environment("127.0.0.1", 3128, [](const std::string&) { return "x"; });
  return std::any_of(ours.begin(), ours.end(), [&](const auto& one) { return one.first == name; });
}

Added added_variables(const Node& env) {
  static const Variables ours =
      client_environment("127.0.0.1", 3128, [](const std::string&) { return std::nullopt; });
  const std::size_t behind = run_of(env.items.rbegin(), env.items.rend(), ours.rbegin(), ours.rend());
  if (behind > 0) return {env.items.size() - behind, behind};
  return {0, run_of(env.items.begin(), env.items.end(), ours.begin(), ours.end())};
}

std::optional<Fault> edit_environment(const Node& container, const std::string& place, Edits& edits,
                                      std::vector<Fault>& remarks, Undo& undo) {
  const Node* env = container.find("env");
  Present present;
  if (env != nullptr) {
    if (auto fault = read_environment(*env, present)) return fault;
  }
  if (const Node* from = container.find("envFrom"); from != nullptr && !from->items.empty())
    remarks.push_back({from->line, from->column,
                       "envFrom is not read: if it has a proxy variable or NO_PROXY, the variable that is "
                       "now in env overrides it"});
  std::vector<Addition> missing;
  for (const auto& [name, wanted] : variables_for(present)) {
    const Node* own = entry_of(present, name);
    const Node* other = entry_of(present, other_spelling(name));
    if (own != nullptr && own->find("valueFrom") != nullptr) {
      remarks.push_back({own->line, own->column, name + " comes from valueFrom and is left unchanged"});
    } else if (own != nullptr) {
      change(*own, name, wanted, std::string(place).append(".").append(name), edits, remarks, undo);
    } else if (const Node* from = other == nullptr ? nullptr : other->find("valueFrom")) {
      missing.push_back(addition(name, "valueFrom", as_json(*from)));
    } else {
      missing.push_back(addition(name, "value", json_string(wanted)));
    }
  }
  undo.added(place, missing.size());
  if (missing.empty()) return std::nullopt;
  const Entry* entry = container.own("env");
  if (entry != nullptr && env->kind == Node::Kind::nothing) {
    undo.had_null(place, edits.written_null(*entry));
    edits.fill(*entry, "[" + json_items(missing) + "]");
  } else if (env != nullptr && env->kind == Node::Kind::list) {
    edits.append_items(*env, missing);
    undo.had_list(place);
  } else {
    edits.add_entries(container, place_for_env(container), {list_entry("env", missing)});
  }
  return std::nullopt;
}

}  // namespace reprise::tools
