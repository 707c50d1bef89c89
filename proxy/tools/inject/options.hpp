// What may be said of the sidecar: by the command line for every pod of a file, by annotations of one pod.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

/// Quantities by the name of their resource; an empty one: there is to be none.
using Resources = std::map<std::string, std::string, std::less<>>;

/// Nothing is said of what is absent or empty. The policy of deploy/kubernetes reads the same annotations.
struct Options {
  std::optional<std::string> image;
  std::optional<std::string> pull_policy;  ///< Always, IfNotPresent or Never
  std::optional<std::string> pull_secret;  ///< a Secret of the pod's namespace
  std::optional<std::string> user;         ///< a number from 1, or `none`: the namespace says it
  std::optional<std::string> config_map;   ///< whose key reprise.yaml is the configuration
  std::optional<std::string> config;       ///< the text of reprise.yaml, which a pod then carries
  Resources requests;
  Resources limits;
  bool has_label = false;   ///< pods get the label by which PodMonitor and NetworkPolicy select
  bool is_scraped = false;  ///< pods get the annotations that a Prometheus looks for
};

inline constexpr std::string_view key_prefix = "reprise.dev/";
inline constexpr std::string_view inject_key = "reprise.dev/inject";
inline constexpr std::string_view config_key = "reprise.dev/config";

/// What is wrong with one value, as a sentence that begins with it; nothing if it is good.
std::optional<std::string> fault_of_quantity(std::string_view text);
std::optional<std::string> fault_of_user(std::string_view text);
std::optional<std::string> fault_of_pull_policy(std::string_view text);

/// `cpu=20m,memory=32Mi`, or what is wrong with it.
std::variant<Resources, std::string> read_resources(std::string_view text);

/// What annotations of a pod's metadata say, or the first that is wrong. `metadata` may be null.
std::variant<Options, Fault> read_annotations(const Node* metadata);

/// `one`, and where it says nothing, `other`.
Options joined(Options one, const Options& other);

}  // namespace reprise::tools
