// Removes reprise from one pod: the reverse of inject_pod().
#pragma once

#include <optional>

#include "proxy/tools/inject/edits.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/pod.hpp"

namespace reprise::tools {

/// Returns the container that inject() added to the pod; null if there is none. This is an init container
/// that is called reprise, runs as long as the pod, and mounts the volume with the configuration of reprise.
const Node* our_container(const Node& pod);

/// Collects in `Edits` all changes that remove reprise from the pod. Precondition: our_container() finds a
/// container in the pod.
std::optional<Fault> remove_from_pod(const Pod&, Edits&);

}  // namespace reprise::tools
