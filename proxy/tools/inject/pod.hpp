// One pod of a manifest: whether it is one, why it may be left alone, and the changes that put reprise into
// it.
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

/// A pod of an object that is written there, or that its object makes.
struct Pod {
  const Node* object;  ///< the workload
  const Node* holder;  ///< has the pod's metadata and its spec: the object itself, or a template
  const Node* spec;

  /// Null if there is none.
  const Node* metadata() const { return holder->find("metadata"); }
};

/// The pods of an object, or of every object of a list; none: it is no workload. A workload that has none is
/// a fault.
std::variant<std::vector<Pod>, Fault> pods_of(const Node& object);

/// An object that has others as its items.
bool is_list(const Node& object);

/// Where an object that is no workload has containers all the same, as a path; empty: nowhere.
std::string unknown_containers(const Node& object);

/// A container or an init container is called reprise.
bool is_injected(const Node& pod);

/// Why nothing is put into this pod, as a sentence; empty: nothing stands against it.
std::string obstacle(const Pod&);

/// Init containers that stay for the life of the pod: they are not ours to change.
bool is_sidecar(const Node& container);

/// How much our container says of the pod as it was before: no more than the way back needs.
enum class UndoForm : std::uint8_t {
  left_out,
  values,  ///< what has been replaced
  whole,   ///< and how many entries of each list are ours
};

/// How much is added to the pod's metadata, which others may share by an anchor.
enum class MetadataForm : std::uint8_t { left_out, annotations, whole };

/// Adds everything to the edits. Returns what the author should know, or the first fault.
std::variant<std::vector<Fault>, Fault> inject_pod(const Pod&, const Sidecar&, UndoForm, MetadataForm,
                                                   Edits&);

}  // namespace reprise::tools
