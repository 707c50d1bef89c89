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
  /// Name of the ConfigMap that has the configuration under the key reprise.yaml; empty if an annotation of
  /// the pod has the configuration.
  std::string config_map{};
  /// Configuration that is written to an annotation of the pod; empty if the pod already has this annotation
  /// or uses a ConfigMap.
  std::string config{};
  bool has_label = false;
  bool is_scraped = false;
};

inline constexpr std::string_view container_name = "reprise";
inline constexpr std::string_view config_volume = "reprise-config";
inline constexpr std::string_view replay_volume = "reprise-replay";

/// Returns the container as YAML lines. Each line begins in column 1 and ends with a newline. `undo` has the
/// facts that remove() needs; it may be empty.
std::string container_text(const Sidecar&, const std::string& undo = {});
std::vector<std::string> volume_texts(const Sidecar&);

/// Returns the value as JSON on one line, which is valid anywhere in YAML.
std::string as_json(const Node&);
/// Converts YAML to JSON. Precondition: the text is valid YAML.
std::string as_json(std::string_view yaml);
std::string json_string(std::string_view text);

}  // namespace reprise::tools
