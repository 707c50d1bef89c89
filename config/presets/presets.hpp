// The shipped presets: their texts, embedded in the program, and what a configuration takes from them.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/yaml/document.hpp"

namespace reprise::config {

struct PresetText {
  std::string_view name;
  std::string_view text;
};

/// The files of config/presets, in the order of their names; the build makes its source from them.
std::span<const PresetText> preset_texts();

/// In alphabetical order.
std::vector<std::string_view> preset_names();
/// The file of that preset, as in config/presets; nothing: there is none.
std::optional<std::string_view> preset_text(std::string_view name);

/// One route of a preset, with what made it; the nodes live as long as the program.
struct PresetRoute {
  std::string_view preset;            ///< in whose file it stands
  const Node* route = nullptr;        ///< its own keys win over the policies
  std::vector<const Node*> policies;  ///< of shipped presets, weakest first
};

/// The routes of a preset in their order, its own before those of presets that it lists itself.
std::vector<PresetRoute> preset_routes(std::string_view name);

/// The policy of that name in any shipped preset, or null. It lives as long as the program.
const Node* preset_policy(std::string_view name);
std::vector<std::string_view> preset_policy_names();

}  // namespace reprise::config
