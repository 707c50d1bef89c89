// `intercept` of a configuration: which hosts it may list, and what it must not leave out.
#pragma once

#include "config/keys/scalar.hpp"
#include "config/yaml/document.hpp"
#include "config/yaml/report.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// An exact name or `*.suffix`. No address, for there is no certificate for one here; and a suffix has a dot
/// in it: who lists `*.com` would be anybody.
Parsed<policy::HostPattern> parse_intercepted(std::string_view);

/// Hosts and both files of the authority must be there.
void check_intercept(const Node& root, Report&);

}  // namespace reprise::config
