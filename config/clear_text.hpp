// Where a configuration sends credentials in clear text to a service that speaks TLS (row L26).
#pragma once

#include <string_view>

#include "config/routes.hpp"

namespace reprise::config {

/// True for a host that a shipped preset reaches over TLS alone.
bool is_reached_over_tls(std::string_view host);

/// Warns of routes that send http:// requests for such hosts as they come, and of a preset's replaced hosts
/// that nothing is said about.
void check_clear_text(const BuiltRoutes&, Report&);

}  // namespace reprise::config
