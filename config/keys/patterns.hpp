// What routes and idempotency rules look for, as texts of a
// configuration: names, hosts, paths, methods, conditions.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// Of a route or a policy: letters, digits, `.`, `-` and `_`, up to 64, because it becomes a label.
Parsed<std::string> parse_name(std::string_view);
/// As above, or PRESET/name: what a route of a shipped preset is called.
Parsed<std::string> parse_route_name(std::string_view);
/// An exact host or `*.suffix`, lower case.
Parsed<policy::HostPattern> parse_host_pattern(std::string_view);
Parsed<policy::PathPattern> parse_path(std::string_view);
/// A token (RFC 9110 9.1); a known method in another case is refused, because methods are case-sensitive.
Parsed<std::string> parse_method(std::string_view);
/// A response field that can name one version of the bytes, in any case: no framing, no description of the
/// body, none that ends with a hop, no date.
Parsed<std::string> parse_version_field(std::string_view);
/// `NAME` or `NAME=value` for headers and queries, a key for json, a token for method.
Parsed<policy::Condition> parse_condition(policy::Condition::Kind, std::string_view);

/// `NAME` or `NAME=value`: the text that parses to the condition.
std::string condition_text(const policy::Condition&);

}  // namespace reprise::config
