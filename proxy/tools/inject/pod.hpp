// One pod of a manifest: finds it, decides whether it can be changed, and makes the changes that add reprise.
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

/// A pod in a manifest: a Pod object, or the template of a workload.
struct Pod {
  const Node* object;  ///< the workload, or the Pod object
  const Node* holder;  ///< the node with the pod's metadata and spec: the object itself, or a template
  const Node* spec;

  /// Returns the pod's metadata. Null if there is none.
  const Node* metadata() const { return holder->find("metadata"); }
};

/// Returns the pods of an object, or of all objects in a list. Empty if the object is not a workload. Returns
/// a fault for a workload without a pod.
std::variant<std::vector<Pod>, Fault> pods_of(const Node& object);

/// Returns true for an object whose items are other objects.
bool is_list(const Node& object);

/// Returns the path to the containers in an object of an unknown kind; empty if it has none.
std::string unknown_containers(const Node& object);

/// Returns true if a container or an init container is called reprise.
bool is_injected(const Node& pod);

/// Returns why reprise cannot be added to the pod, as a sentence. Empty if it can be added.
std::string obstacle(const Pod&);

/// Returns true for an init container that runs as long as the pod. Such containers are not changed.
bool is_sidecar(const Node& container);

/// The amount of facts about the original pod that our container stores. Only what the removal needs is
/// stored.
enum class UndoForm : std::uint8_t {
  left_out,
  values,  ///< the values that were replaced
  whole,   ///< also how many entries of each list were added
};

/// How much is added to the pod's metadata: less if a YAML anchor shares the metadata with other objects.
enum class MetadataForm : std::uint8_t { left_out, annotations, whole };

/// Adds all changes to the edits. Returns notes for the author, or the first fault.
std::variant<std::vector<Fault>, Fault> inject_pod(const Pod&, const Sidecar&, UndoForm, MetadataForm,
                                                   Edits&);

}  // namespace reprise::tools
