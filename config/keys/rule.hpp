// Reads the two shapes that are more than a scalar: idempotency
// rules, and the query and header pairs of a match.
#pragma once

#include <string>
#include <vector>

#include "config/yaml/document.hpp"
#include "proxy/policy/match/condition.hpp"

namespace reprise::config {

/// `always`, `never`, `by_method`, `{any: [..]}` or `{all: [..]}`. What is wrong goes to the report, under
/// `path`; `rule` is then as it was.
void read_rule(const Node&, const std::string& path, Report&, policy::IdempotencyRule& rule);

/// A list of `name` or `name=value`, or a mapping `name: value`, where nothing or `*` is any value.
void read_pairs(const Node&, policy::Condition::Kind, const std::string& path, Report&,
                std::vector<policy::Condition>& pairs);

}  // namespace reprise::config
