// Describes a finished request for people, and advises how to get another outcome.
#pragma once

#include <string>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/telemetry/history/history_entry.hpp"

namespace reprise::tools {

/// Returns one or two sentences on how to get another outcome: the advice of `explain` under the route's
/// current policy. Empty if the request succeeded.
std::string advice_for(const telemetry::HistoryEntry&, const policy::RoutePolicy&);

/// Returns the description of the request, with a few lines for each attempt. The first column is the topic
/// of the line. Escapes text that comes from a client or an upstream. `advice` may be empty.
std::string to_text(const telemetry::HistoryEntry&, std::string_view advice);

}  // namespace reprise::tools
