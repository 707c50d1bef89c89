// Warnings of what fails at one upstream or parent proxy, few enough to be read.
#pragma once

#include <string_view>

#include "proxy/net/upstream/pool.hpp"
#include "proxy/telemetry/log/access_log.hpp"

namespace reprise::net {

/// At most one a second for each upstream: every request may meet what it tells.
void warn_of(telemetry::Log&, Upstream&, std::string_view text);

}  // namespace reprise::net
