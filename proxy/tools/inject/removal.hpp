// Removes reprise from one pod: the reverse of inject_pod().
#pragma once

#include <optional>

#include "proxy/tools/inject/edits.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/pod.hpp"

namespace reprise::tools {

/// Returns the container in a pod that inject() added; null if there is none. It is an init container called
/// reprise that runs as long as the pod and mounts the volume with its configuration. Other containers called
/// reprise do not count.
const Node* our_container(const Node& pod);

/// Adds all changes that remove reprise to the edits. Precondition: the pod has our container.
std::optional<Fault> remove_from_pod(const Pod&, Edits&);

}  // namespace reprise::tools
