// Parses the patterns of routes and idempotency rules: names, hosts, paths, methods, gRPC methods,
// conditions.
#pragma once

#include <string>
#include <string_view>

#include "config/keys/scalar.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

/// Parses the name of a route or policy: at most 64 letters, digits, `.`, `-` and `_`, because the name
/// becomes a metric label.
Parsed<std::string> parse_name(std::string_view);
/// Parses a route name: a name that parse_name accepts, or `PRESET/NAME` for a route of a preset.
Parsed<std::string> parse_route_name(std::string_view);
/// Parses an exact host or `*.suffix`. Returns it in lower case.
Parsed<policy::HostPattern> parse_host_pattern(std::string_view);
Parsed<policy::PathPattern> parse_path(std::string_view);
/// Parses a token (RFC 9110 9.1). Rejects a known method in another case, because methods are case-sensitive.
Parsed<std::string> parse_method(std::string_view);
/// Parses a pattern for methods of gRPC calls, such as `shop.Catalog/Get*`.
Parsed<policy::GrpcPattern> parse_grpc_method(std::string_view);
/// Parses the name of a response field that can identify a version of the content, in any letter case.
/// Rejects framing fields, fields that describe the body, hop-by-hop fields and dates.
Parsed<std::string> parse_version_field(std::string_view);
/// Parses a condition: `NAME` or `NAME=value` for headers and queries, a key for json, a token for method.
Parsed<policy::Condition> parse_condition(policy::Condition::Kind, std::string_view);

/// Returns the condition as a text, `NAME` or `NAME=value`, from which parse_condition reads the same
/// condition.
std::string condition_text(const policy::Condition&);

}  // namespace reprise::config
