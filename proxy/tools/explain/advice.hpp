// What to change to get the other answer: one sentence for each reason that an explanation can end with.
#pragma once

#include <string>

#include "proxy/tools/explain/explanation.hpp"

namespace reprise::tools {

/// Speaks of the keys of the route and of the request, ends with a full stop. `reason` is the one that a
/// course of the explanation ended with.
std::string advice(policy::Reason reason, const Explanation&, const policy::RoutePolicy&);

/// The word of `retry.on` that would list the outcome; empty where none can.
std::string retry_word(const policy::Outcome&);

}  // namespace reprise::tools
