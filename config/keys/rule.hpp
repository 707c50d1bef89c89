// Reads idempotency rules, and the query and header pairs of a match.
#pragma once

#include <string>
#include <vector>

#include "config/yaml/document.hpp"
#include "proxy/policy/match/condition.hpp"

namespace reprise::config {

/// Reads `always`, `never`, `by_method`, `{any: [..]}` or `{all: [..]}`. If there is
/// an error, reports it under `path` and leaves `rule` unchanged.
void read_rule(const Node&, const std::string& path, Report&, policy::IdempotencyRule& rule);

/// Reads a list of `name` or `name=value` items, or a mapping `name: value`. An empty value and `*` match any
/// value.
void read_pairs(const Node&, policy::Condition::Kind, const std::string& path, Report&,
                std::vector<policy::Condition>& pairs);

}  // namespace reprise::config
