// One pod of a manifest: how it is found, why it may be left alone, and the changes that add reprise to it.
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
  const Node* object;  ///< the workload
  const Node* holder;  ///< has the pod's metadata and spec: the object itself, or a template
  const Node* spec;

  /// Returns null if there is none.
  const Node* metadata() const { return holder->find("metadata"); }
};

/// Returns the pods of an object, or of all objects of a list; empty if it is not a workload. Returns a fault
/// for a workload without a pod.
std::variant<std::vector<Pod>, Fault> pods_of(const Node& object);

/// Returns true for an object whose items are other objects.
bool is_list(const Node& object);

/// Returns the path to the containers of an object that is not a known workload; empty if it has none.
std::string unknown_containers(const Node& object);

/// Returns true if a container or an init container is called reprise.
bool is_injected(const Node& pod);

/// Returns why reprise cannot be added to the pod, as a sentence; empty if it can.
std::string obstacle(const Pod&);

/// Returns true for an init container that runs for the life of the pod. Such containers are not changed.
bool is_sidecar(const Node& container);

/// How much our container records about the original pod: only as much as the removal needs.
enum class UndoForm : std::uint8_t {
  left_out,
  values,  ///< replaced values
  whole,   ///< replaced values, and how many entries of each list are ours
};

/// How much is added to the pod's metadata, which an anchor may share with others.
enum class MetadataForm : std::uint8_t { left_out, annotations, whole };

/// Adds all changes to the edits. Returns notes for the author, or the first fault.
std::variant<std::vector<Fault>, Fault> inject_pod(const Pod&, const Sidecar&, UndoForm, MetadataForm,
                                                   Edits&);

}  // namespace reprise::tools
