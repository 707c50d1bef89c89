// Advice on how to get another outcome: one sentence for each reason with which an explanation can end.
#pragma once

#include <string>

#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// Returns advice about the keys of the route and about the request. It ends with a full stop. Precondition:
/// a course of the explanation ended with `reason`.
std::string advice(policy::Reason reason, const Explanation&, const policy::RoutePolicy&);

/// Returns the word to add to `retry.on` so that the outcome is listed; empty if there is none.
std::string retry_word(const policy::Outcome&);

}  // namespace reprise::tools
