// Adds to a pod's metadata: a label, and annotations for autoscalers, Prometheus and the configuration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/pod.hpp"
#include "proxy/tools/inject/undo.hpp"

namespace reprise::tools {

/// Annotation that lists the volumes that an autoscaler may delete when it moves a pod. The volume of reprise
/// is added to this list, because it has only the bodies of requests in progress.
inline constexpr std::string_view eviction_key =
    "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";

inline constexpr std::string_view scrape_key = "prometheus.io/scrape";

/// Returns the name under which Undo stores what inject() did to a key. `list` is the section of the pod's
/// metadata that has the key: `annotations` or `labels`.
std::string metadata_place(std::string_view list, std::string_view key);

/// Returns the keys that inject() may add to `annotations` or `labels`.
std::vector<std::string_view> metadata_keys(std::string_view list);

/// Adds the changes of the pod's metadata to `edits`, notes for the author of the manifest to `remarks`, and
/// facts for remove() to `undo`.
void edit_metadata(const Pod&, const Sidecar&, Edits& edits, std::vector<Fault>& remarks, Undo& undo);

/// Reverses edit_metadata().
void remove_metadata(const Pod&, const Undo&, Edits&);

}  // namespace reprise::tools
