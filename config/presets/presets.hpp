// The shipped presets, which are embedded in the program.
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

/// Returns the files of config/presets, ordered by name. The build generates this function.
std::span<const PresetText> preset_texts();

/// Returns the names of the presets in alphabetical order.
std::vector<std::string_view> preset_names();
/// Returns the text of the preset with that name; nothing if no preset has this name.
std::optional<std::string_view> preset_text(std::string_view name);

/// One route of a preset, and the policies that it uses. The nodes live until the program ends.
struct PresetRoute {
  std::string_view preset;            ///< preset whose file has the route
  const Node* route = nullptr;        ///< keys of the route; they override the policies
  std::vector<const Node*> policies;  ///< policies of shipped presets; later ones override earlier ones
};

/// Returns the routes of a preset, followed by the routes of the presets that it lists.
std::vector<PresetRoute> preset_routes(std::string_view name);

/// Returns the policy with that name in any shipped preset. Null if no preset has such a policy. The node
/// lives until the program ends.
const Node* preset_policy(std::string_view name);
std::vector<std::string_view> preset_policy_names();

}  // namespace reprise::config
