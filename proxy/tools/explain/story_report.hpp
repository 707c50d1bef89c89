// The story of a request that is over, told to people, and what would have changed it.
#pragma once

#include <string>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/telemetry/history/story.hpp"

namespace reprise::tools {

/// What would change how it ended, in one or two sentences: the advice of `explain` by the policy of its
/// route as it is now. Empty where nothing was refused.
std::string advice_for(const telemetry::Story&, const policy::RoutePolicy&);

/// Some lines for each attempt, each with what it is about in the first column. What a client or an upstream
/// chose is escaped. `advice` may be empty.
std::string to_text(const telemetry::Story&, std::string_view advice);

}  // namespace reprise::tools
