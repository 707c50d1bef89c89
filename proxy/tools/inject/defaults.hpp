// The sidecar of one pod: what its annotations say, then the command line, then the sidecar that is there,
// then the defaults.
#pragma once

#include <string_view>
#include <variant>

#include "proxy/tools/inject/options.hpp"
#include "proxy/tools/inject/pod.hpp"
#include "proxy/tools/inject/sidecar.hpp"

namespace reprise::tools {

/// The name of the ConfigMap that is mounted where nothing says otherwise.
inline constexpr std::string_view default_config_map = "reprise";

/// What a sidecar of ours says, in the words of the options. Precondition: it is in that pod.
Options options_of(const Node& container, const Pod&);

/// `there`: what the sidecar says that this one replaces. `version`: the tag of the image. A Guaranteed pod
/// stays Guaranteed, and one with resources of its own shares them. A fault: an annotation is wrong, or a
/// request is larger than its limit.
std::variant<Sidecar, Fault> sidecar_for(const Pod&, const Options& asked, const Options& there,
                                         std::string_view version);

/// Whether that sidecar is another than the one that says `there`.
bool differs(const Sidecar&, const Options& there);

}  // namespace reprise::tools
