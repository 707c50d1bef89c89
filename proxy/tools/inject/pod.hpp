// Finds the pods of a manifest, decides whether a pod can be changed, and makes the changes that add reprise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/tools/inject/edits.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/sidecar.hpp"

namespace reprise::tools {

/// A pod in a manifest: a Pod object, or the pod template of a workload such as a Deployment.
struct Pod {
  const Node* object;  ///< the workload, or the Pod object
  const Node* holder;  ///< the node with the pod's metadata and spec: the object itself, or a template
  const Node* spec;

  /// Returns the pod's metadata. Null if there is none.
  const Node* metadata() const { return holder->find("metadata"); }
};

/// Returns the pods of an object, or of all objects in a list. The result is empty if the object is not a
/// workload. Returns a fault if a workload has no pod with containers.
std::variant<std::vector<Pod>, Fault> pods_of(const Node& object);

/// Returns true if the object is a list of other objects (such as `kind: List`).
bool is_list(const Node& object);

/// Returns the path to the containers in an object of an unknown kind. Returns an empty text if the object
/// has no containers or is of a known kind.
std::string unknown_containers(const Node& object);

/// Returns true if a container or an init container of the pod is called reprise.
bool is_injected(const Node& pod);

/// Returns why reprise cannot be added to the pod, as a sentence. Returns an empty text if reprise can be
/// added.
std::string obstacle(const Pod&);

/// Returns true for an init container that runs as long as the pod. inject() does not edit such containers.
bool is_sidecar(const Node& container);

/// Selects which facts about the original pod are stored in the container of reprise. inject() stores only
/// the facts without which remove() would not restore the pod.
enum class UndoForm : std::uint8_t {
  left_out,
  values,  ///< the replaced values
  whole,   ///< the replaced values, and how many entries were added to each list
};

/// Selects the additions to the pod's metadata. inject() makes fewer additions if other objects share the
/// metadata through a YAML anchor.
enum class MetadataForm : std::uint8_t { left_out, annotations, whole };

/// Collects in `Edits` all changes that add reprise to the pod. Returns notes for the author of the manifest,
/// or the first fault.
std::variant<std::vector<Fault>, Fault> inject_pod(const Pod&, const Sidecar&, UndoForm, MetadataForm,
                                                   Edits&);

}  // namespace reprise::tools
