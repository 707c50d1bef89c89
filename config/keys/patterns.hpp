// Parses the patterns of routes and idempotency rules: names, hosts, paths, methods, conditions.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// Parses the name of a route or policy: letters, digits, `.`, `-` and `_`, at most 64, because it becomes a
/// label.
Parsed<std::string> parse_name(std::string_view);
/// Parses a route name: as above, or PRESET/name, the form of a shipped preset's routes.
Parsed<std::string> parse_route_name(std::string_view);
/// Parses an exact host or `*.suffix`. Returns it in lower case.
Parsed<policy::HostPattern> parse_host_pattern(std::string_view);
Parsed<policy::PathPattern> parse_path(std::string_view);
/// Parses a token (RFC 9110 9.1). Rejects a known method in another case, because methods are case-sensitive.
Parsed<std::string> parse_method(std::string_view);
/// Parses a response field that can identify a version of the content, in any case. Rejects framing fields,
/// descriptions of the body, hop-by-hop fields and dates.
Parsed<std::string> parse_version_field(std::string_view);
/// Parses `NAME` or `NAME=value` for headers and queries, a key for json, a token for method.
Parsed<policy::Condition> parse_condition(policy::Condition::Kind, std::string_view);

/// Returns `NAME` or `NAME=value`, the text that parses to the condition.
std::string condition_text(const policy::Condition&);

}  // namespace reprise::config
