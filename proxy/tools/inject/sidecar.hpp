// The additions to a pod: the container of reprise and its volumes, as block YAML and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/options.hpp"

namespace reprise::tools {

/// The settings of one pod's sidecar. If a text is empty, its key is omitted.
struct Sidecar {
  std::string image;
  std::string pull_policy{};
  std::string pull_secret{};
  std::string user = "65532";
  Resources requests{};
  Resources limits{};
  std::string
      /// ConfigMap with the configuration under the key reprise.yaml; empty if an annotation of the pod has
      /// the configuration
      config_map{};
  std::string config{};  ///< text to write to that annotation; empty if the pod already has it
  bool has_label = false;
  bool is_scraped = false;
};

inline constexpr std::string_view container_name = "reprise";
inline constexpr std::string_view config_volume = "reprise-config";
inline constexpr std::string_view replay_volume = "reprise-replay";

/// Returns the container as YAML lines that end with
///  and begin in column 1. `undo` has the facts for the removal; it may be empty.
std::string container_text(const Sidecar&, const std::string& undo = {});
std::vector<std::string> volume_texts(const Sidecar&);

/// Returns the value as JSON on one line, which is valid anywhere in YAML.
std::string as_json(const Node&);
/// Converts YAML to JSON. Precondition: the text is valid YAML.
std::string as_json(std::string_view yaml);
std::string json_string(std::string_view text);

}  // namespace reprise::tools
