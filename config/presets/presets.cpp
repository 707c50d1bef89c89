#include "config/presets/presets.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace reprise::config {
namespace {

struct Pack {
  std::string_view name;
  Node root;
};

Node parsed(const PresetText& preset) {
  Report report;
  auto root = parse_document(preset.text, report);
  if (!root || report.has_errors())
    throw std::logic_error("shipped preset " + std::string(preset.name) + " does not parse");
  return std::move(*root);
}

// Returns the parsed presets. Parses them on first use, and keeps them until the program ends, because routes
// and messages point into them.
const std::vector<Pack>& packs() {
  static const std::vector<Pack> all = [] {
    std::vector<Pack> made;
    for (const PresetText& preset : preset_texts()) made.push_back({preset.name, parsed(preset)});
    return made;
  }();
  return all;
}

const Node* policy_in(const Pack& pack, std::string_view name) {
  const Node* policies = pack.root.find("policies");
  return policies == nullptr ? nullptr : policies->find(name);
}

void add_policy(const Node& owner, std::vector<const Node*>& policies) {
  const Node* name = owner.find("policy");
  if (name != nullptr) policies.push_back(preset_policy(name->text));
}

}  // namespace

std::vector<std::string_view> preset_names() {
  std::vector<std::string_view> names;
  for (const PresetText& preset : preset_texts()) names.push_back(preset.name);
  return names;
}

std::optional<std::string_view> preset_text(std::string_view name) {
  for (const PresetText& preset : preset_texts()) {
    if (preset.name == name) return preset.text;
  }
  return std::nullopt;
}

std::vector<PresetRoute> preset_routes(std::string_view name) {
  std::vector<PresetRoute> all;
  const auto pack =
      std::find_if(packs().begin(), packs().end(), [&](const Pack& p) { return p.name == name; });
  if (pack == packs().end()) return all;
  if (const Node* routes = pack->root.find("routes")) {
    for (const Node& route : routes->items) {
      PresetRoute& added = all.emplace_back(PresetRoute{pack->name, &route, {}});
      add_policy(route, added.policies);
    }
  }
  const Node* listed = pack->root.find("presets");
  if (listed == nullptr) return all;
  for (const Node& entry : listed->items) {
    for (PresetRoute& inner : preset_routes(entry.find("name")->text)) {
      add_policy(entry, inner.policies);
      all.push_back(std::move(inner));
    }
  }
  return all;
}

const Node* preset_policy(std::string_view name) {
  for (const Pack& pack : packs()) {
    if (const Node* found = policy_in(pack, name)) return found;
  }
  return nullptr;
}

std::vector<std::string_view> preset_policy_names() {
  std::vector<std::string_view> names;
  for (const Pack& pack : packs()) {
    const Node* policies = pack.root.find("policies");
    if (policies == nullptr) continue;
    for (const Entry& entry : policies->entries) names.emplace_back(entry.key);
  }
  return names;
}

}  // namespace reprise::config
