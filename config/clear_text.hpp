// Detects configurations that send credentials in clear text to a service that uses TLS (row L26).
#pragma once

#include <string_view>

#include "config/routes.hpp"

namespace reprise::config {

/// Returns true for a host that a shipped preset reaches only over TLS.
bool is_reached_over_tls(std::string_view host);

/// Warns about routes that forward http:// requests without TLS to hosts that a shipped preset reaches only
/// over TLS. Also warns if `hosts` replaces the hosts of a preset and `tls` is not set for the new hosts.
void check_clear_text(const BuiltRoutes&, Report&);

}  // namespace reprise::config
