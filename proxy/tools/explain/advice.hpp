// Returns advice on how to get another outcome, for each reason with which an explanation can end.
#pragma once

#include <string>

#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// Returns advice on what to change in the route or in the request. The text ends with a full stop.
/// Precondition: a course of the explanation ended with `reason`.
std::string advice(policy::Reason reason, const Explanation&, const policy::RoutePolicy&);

/// Returns the word to add to `retry.on` so that such an outcome is retried; empty if no word covers the
/// outcome.
std::string retry_word(const policy::Outcome&);

}  // namespace reprise::tools
