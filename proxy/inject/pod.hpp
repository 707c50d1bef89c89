// One pod of a manifest: whether it is one, and the changes that put reprise into it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/inject/edits.hpp"
#include "proxy/inject/manifest.hpp"
#include "proxy/inject/sidecar.hpp"

namespace reprise::inject {

/// The pod specifications of an object, or of every object of a list; none: it is no workload. A workload
/// that has none is a fault.
std::variant<std::vector<const Node*>, Fault> pods_of(const Node& object);

/// A container or an init container is called reprise.
bool is_injected(const Node& pod);

/// Init containers that stay for the life of the pod: they are not ours to change.
bool is_sidecar(const Node& container);

/// How much our container says of the pod as it was before: no more than the way back needs.
enum class UndoForm : std::uint8_t {
  left_out,
  values,  ///< what has been replaced
  whole,   ///< and how many entries of each list are ours
};

/// Adds everything to the edits. Returns what the author should know, or the first fault.
std::variant<std::vector<Fault>, Fault> inject_pod(const Node& pod, const Sidecar&, UndoForm, Edits&);

}  // namespace reprise::inject
