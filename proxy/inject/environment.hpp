// The environment of one container: every variable that sends its requests through reprise, each once.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/inject/edits.hpp"
#include "proxy/inject/manifest.hpp"

namespace reprise::inject {

/// What never passes, besides what the container itself exempts. Kubernetes puts the address of its API in
/// the place of the last.
inline constexpr std::string_view direct_names =
    "localhost,127.0.0.1,::1,kubernetes.default.svc,$(KUBERNETES_SERVICE_HOST)";

/// Whether reprise sets a variable of that name.
bool is_proxy_variable(std::string_view name);

/// Adds to `edits`, and to `remarks` what the author should know.
std::optional<Fault> edit_environment(const Node& container, Edits& edits, std::vector<Fault>& remarks);

}  // namespace reprise::inject
