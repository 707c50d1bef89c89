// The way back: the changes that take reprise out of one pod again.
#pragma once

#include <optional>

#include "proxy/tools/inject/edits.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/pod.hpp"

namespace reprise::tools {

/// Our container of a pod, or null: an init container called reprise that stays for the life of the pod and
/// mounts the volume of its configuration. Any other container called reprise is somebody else's.
const Node* our_container(const Node& pod);

/// Adds everything to the edits. Precondition: the pod has our container.
std::optional<Fault> remove_from_pod(const Pod&, Edits&);

}  // namespace reprise::tools
