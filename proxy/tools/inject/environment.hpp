// Sets the environment variables that make one container send its requests through reprise.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/edits.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/undo.hpp"

namespace reprise::tools {

/// Hosts that the container reaches directly, in addition to the hosts in the container's own NO_PROXY.
/// Kubernetes replaces the last item by the address of its API server.
inline constexpr std::string_view direct_names =
    "localhost,127.0.0.1,::1,kubernetes.default.svc,$(KUBERNETES_SERVICE_HOST)";

/// Returns true if `reprise inject` sets a variable with that name.
bool is_proxy_variable(std::string_view name);

/// The range of variables that reprise probably added to a container, judged by their names and order. The
/// range is at the end of `env`. Builds of November 2026, before the release of 0.1.0, added it at the front.
struct Added {
  std::size_t first = 0;
  std::size_t count = 0;
};
Added added_variables(const Node& env);

/// Adds the changes of the container's environment to `edits`, notes for the author of the manifest to
/// `remarks`, and facts for remove() to `undo`. `place` identifies the container's environment in `undo`.
/// Returns a fault if the environment cannot be changed.
std::optional<Fault> edit_environment(const Node& container, const std::string& place, Edits& edits,
                                      std::vector<Fault>& remarks, Undo& undo);

}  // namespace reprise::tools
