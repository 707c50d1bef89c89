// What to change to get another outcome: one sentence for each reason with which an explanation can end.
#pragma once

#include <string>

#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// Returns advice about keys of the route and about the request, ending with a full stop. Precondition:
/// `reason` ended a course of the explanation.
std::string advice(policy::Reason reason, const Explanation&, const policy::RoutePolicy&);

/// Returns the word of `retry.on` that would list the outcome; empty if there is none.
std::string retry_word(const policy::Outcome&);

}  // namespace reprise::tools
