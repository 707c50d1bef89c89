// Decides the settings of a pod's sidecar. The first source that sets an option wins: the pod's annotations,
// the command line, the existing sidecar, the defaults.
#pragma once

#include <string_view>
#include <variant>

#include "proxy/tools/inject/options.hpp"
#include "proxy/tools/inject/pod.hpp"
#include "proxy/tools/inject/sidecar.hpp"

namespace reprise::tools {

/// Name of the ConfigMap that is mounted by default.
inline constexpr std::string_view default_config_map = "reprise";

/// Returns the options with which inject() made `container`, the existing sidecar of the pod.
Options options_of(const Node& container, const Pod&);

/// Decides the settings of a pod's sidecar. `asked` has the options of the command line, `there` the options
/// of the existing sidecar that is replaced. `version` is the tag of the default image, and replaces the
/// version in the tag of the existing sidecar's image. A pod of the QoS class Guaranteed stays Guaranteed. If
/// `spec.resources` sets resources for the whole pod and no option sets any, the sidecar gets no resources of
/// its own. Returns a fault if an annotation is invalid, or if the sidecar would request more than its limit.
std::variant<Sidecar, Fault> sidecar_for(const Pod&, const Options& asked, const Options& there,
                                         std::string_view version);

/// Returns true if the sidecar differs from a sidecar made with the options `there`.
bool differs(const Sidecar&, const Options& there);

}  // namespace reprise::tools
