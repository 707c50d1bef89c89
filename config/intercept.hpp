// Checks the section `intercept`: which hosts it may list, and which keys are required.
#pragma once

#include "config/keys/scalar.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// Parses an exact name or `*.suffix`. Rejects an address, because no certificate is issued for it. Rejects a
/// suffix without a dot, because `*.com` would cover almost any host.
Parsed<policy::HostPattern> parse_intercepted(std::string_view);

/// Reports missing hosts and missing files of the local authority, and checks each host.
void check_intercept(const Node& root, Report&);

}  // namespace reprise::config
