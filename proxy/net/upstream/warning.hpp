// Rate-limited warnings about failures at one upstream or parent proxy.
#pragma once

#include <string_view>

#include "proxy/net/upstream/pool.hpp"
#include "proxy/telemetry/log/access_log.hpp"

namespace reprise::net {

/// Logs a warning about the upstream, at most once a second per upstream, because every request may cause the
/// same warning.
void warn_of(telemetry::Log&, Upstream&, std::string_view text);

}  // namespace reprise::net
