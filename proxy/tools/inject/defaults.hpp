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

/// Returns the options with which an existing sidecar of ours was made. Precondition: the pod has that
/// sidecar.
Options options_of(const Node& container, const Pod&);

/// Decides the sidecar. `there` has the options of the existing sidecar that it replaces. `version` is the
/// tag of the image. A Guaranteed pod stays Guaranteed, and in a pod with resources of its own the sidecar
/// uses those. Returns a fault if an annotation is invalid, or if a request is above its limit.
std::variant<Sidecar, Fault> sidecar_for(const Pod&, const Options& asked, const Options& there,
                                         std::string_view version);

/// Returns true if the sidecar differs from a sidecar made with the options `there`.
bool differs(const Sidecar&, const Options& there);

}  // namespace reprise::tools
