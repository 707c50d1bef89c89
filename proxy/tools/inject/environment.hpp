// The environment of one container: every variable that sends its requests through reprise, each once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/inject/edits.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/undo.hpp"

namespace reprise::tools {

/// What never passes, besides what the container itself exempts. Kubernetes puts the address of its API in
/// the place of the last.
inline constexpr std::string_view direct_names =
    "localhost,127.0.0.1,::1,kubernetes.default.svc,$(KUBERNETES_SERVICE_HOST)";

/// Whether reprise sets a variable of that name.
bool is_proxy_variable(std::string_view name);

/// Which variables of that list are ours, as far as their names and their order say: the last ones; or the
/// first ones, as builds of November 2026 wrote them before 0.1.0 was released.
struct Added {
  std::size_t first = 0;
  std::size_t count = 0;
};
Added added_variables(const Node& env);

/// Adds to `edits`, to `remarks` what the author should know, and to `undo` what the way back needs: `place`
/// is the container's environment.
std::optional<Fault> edit_environment(const Node& container, const std::string& place, Edits& edits,
                                      std::vector<Fault>& remarks, Undo& undo);

}  // namespace reprise::tools
