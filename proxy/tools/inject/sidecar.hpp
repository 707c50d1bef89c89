// What is added to a pod: the container of reprise and its volumes, each as the lines of a block and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/options.hpp"

namespace reprise::tools {

/// The sidecar of one pod, with everything decided. An empty text leaves its key out.
struct Sidecar {
  std::string image;
  std::string pull_policy{};
  std::string pull_secret{};
  std::string user = "65532";
  Resources requests{};
  Resources limits{};
  std::string
      config_map{};  ///< whose key reprise.yaml is the configuration; empty: an annotation of the pod is it
  std::string config{};  ///< the text of that annotation, if the pod does not have it yet
  bool has_label = false;
  bool is_scraped = false;
};

inline constexpr std::string_view container_name = "reprise";
inline constexpr std::string_view config_volume = "reprise-config";
inline constexpr std::string_view replay_volume = "reprise-replay";

/// YAML, in lines that end with \n, from column 1. `undo`: what the way back needs, or empty.
std::string container_text(const Sidecar&, const std::string& undo = {});
std::vector<std::string> volume_texts(const Sidecar&);

/// The same value on one line, which any YAML takes anywhere.
std::string as_json(const Node&);
/// Of a text that is known to be YAML.
std::string as_json(std::string_view yaml);
std::string json_string(std::string_view text);

}  // namespace reprise::tools
