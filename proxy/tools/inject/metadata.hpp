// What the metadata of a pod is given: annotations for autoscalers, Prometheus and the configuration; a
// label.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/pod.hpp"
#include "proxy/tools/inject/undo.hpp"

namespace reprise::tools {

/// Says which volumes an autoscaler may lose when it moves a pod. Ours has the bodies of requests under way.
inline constexpr std::string_view eviction_key =
    "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";

inline constexpr std::string_view scrape_key = "prometheus.io/scrape";

/// The place, in the words of Undo, of a key in `annotations` or `labels`.
std::string metadata_place(std::string_view list, std::string_view key);

/// The keys of `annotations` or of `labels` that may be added.
std::vector<std::string_view> metadata_keys(std::string_view list);

/// Adds to `edits`, to `remarks` what the author should know, and to `undo` what the way back needs.
void edit_metadata(const Pod&, const Sidecar&, Edits& edits, std::vector<Fault>& remarks, Undo& undo);

/// The way back.
void remove_metadata(const Pod&, const Undo&, Edits&);

}  // namespace reprise::tools
