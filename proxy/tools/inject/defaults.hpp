// Decides the sidecar of one pod from its annotations, then the command line, then the existing sidecar, then
// the defaults.
#pragma once

#include <string_view>
#include <variant>

#include "proxy/tools/inject/options.hpp"
#include "proxy/tools/inject/pod.hpp"
#include "proxy/tools/inject/sidecar.hpp"

namespace reprise::tools {

/// Name of the ConfigMap that is mounted by default.
inline constexpr std::string_view default_config_map = "reprise";

/// Returns the options that an existing sidecar of ours was made with. Precondition: the sidecar is in that
/// pod.
Options options_of(const Node& container, const Pod&);

/// Decides the sidecar. `there`: options of the sidecar that it replaces. `version`: tag of the image. A
/// Guaranteed pod stays Guaranteed, and a pod with resources of its own shares them. Returns a fault if an
/// annotation is invalid, or if a request is above its limit.
std::variant<Sidecar, Fault> sidecar_for(const Pod&, const Options& asked, const Options& there,
                                         std::string_view version);

/// Returns true if the sidecar differs from the one that was made with `there`.
bool differs(const Sidecar&, const Options& there);

}  // namespace reprise::tools
