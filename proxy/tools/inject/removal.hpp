// Removes reprise from one pod: the reverse of inject_pod().
#pragma once

#include <optional>

#include "proxy/tools/inject/edits.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/pod.hpp"

namespace reprise::tools {

/// Returns our container of a pod, or null: an init container called reprise that runs for the life of the
/// pod and mounts the volume with its configuration. Any other container called reprise was not added by
/// inject().
const Node* our_container(const Node& pod);

/// Adds all changes to the edits. Precondition: the pod has our container.
std::optional<Fault> remove_from_pod(const Pod&, Edits&);

}  // namespace reprise::tools
