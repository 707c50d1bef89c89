// Reads `hold.body`: what in the body of an answer makes it worth another attempt.
#pragma once

#include <string>
#include <vector>

#include "config/document.hpp"
#include "proxy/policy/body_predicate.hpp"

namespace reprise::config {

/// One predicate, `{json: PATH, equals: TEXT}` or `{event: NAME}` or all three keys, or a list of up to 16.
/// What is wrong goes to the report, under `path`; `predicates` are then as they were.
void read_predicates(const Node&, const std::string& path, Report&,
                     std::vector<policy::BodyPredicate>& predicates);

}  // namespace reprise::config
