// Detects configurations that send credentials in clear text to a service that uses TLS (row L26).
#pragma once

#include <string_view>

#include "config/routes.hpp"

namespace reprise::config {

/// Returns true for a host that a shipped preset reaches only over TLS.
bool is_reached_over_tls(std::string_view host);

/// Warns about routes that forward http:// requests for such hosts without TLS. Also warns if the hosts of a
/// preset are replaced and `tls` is not set for the new ones.
void check_clear_text(const BuiltRoutes&, Report&);

}  // namespace reprise::config
