// Options of the sidecar, from the command line for all pods of a file, or from annotations for one pod.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/tools/inject/manifest.hpp"

namespace reprise::tools {

/// Quantities, keyed by the name of the resource. If a quantity is empty, the sidecar gets no quantity for
/// this resource, not even the default.
using Resources = std::map<std::string, std::string, std::less<>>;

/// Options of the sidecar. An option that is absent or empty is not set. The admission policy in
/// deploy/kubernetes/policy.yaml reads the annotations that set these options.
struct Options {
  std::optional<std::string> image;
  std::optional<std::string> pull_policy;  ///< Always, IfNotPresent or Never
  std::optional<std::string> pull_secret;  ///< name of a Secret in the pod's namespace
  std::optional<std::string> user;  ///< user id, at least 1, or `none` if the namespace chooses the user
  std::optional<std::string> config_map;  ///< ConfigMap with the configuration in its key reprise.yaml
  std::optional<std::string> config;  ///< text of reprise.yaml, which is put into an annotation of the pod
  Resources requests;
  Resources limits;
  bool has_label = false;   ///< adds the label that PodMonitor and NetworkPolicy select
  bool is_scraped = false;  ///< adds the annotations that Prometheus reads
};

inline constexpr std::string_view key_prefix = "reprise.dev/";
inline constexpr std::string_view inject_key = "reprise.dev/inject";
inline constexpr std::string_view config_key = "reprise.dev/config";

/// Returns an error message if the text is not a valid quantity; nothing if it is valid.
std::optional<std::string> fault_of_quantity(std::string_view text);
/// Returns an error message if the text is not a valid user; nothing if it is valid.
std::optional<std::string> fault_of_user(std::string_view text);
/// Returns an error message if the text is not a valid pull policy; nothing if it is valid.
std::optional<std::string> fault_of_pull_policy(std::string_view text);

/// Parses a list such as `cpu=20m,memory=32Mi`. Returns an error message if the list is invalid.
std::variant<Resources, std::string> read_resources(std::string_view text);

/// Reads the options in a pod's annotations. Returns the fault of the first invalid annotation, if there is
/// one. `metadata` may be null.
std::variant<Options, Fault> read_annotations(const Node* metadata);

/// Returns the options of `one`. An option that `one` does not set is taken from `other`.
Options joined(Options one, const Options& other);

}  // namespace reprise::tools
