// Describes a finished request to people, and what would have changed its outcome.
#pragma once

#include <string>

#include "proxy/policy/decision/route_policy.hpp"
#include "proxy/telemetry/history/history_entry.hpp"

namespace reprise::tools {

/// Returns, in one or two sentences, how to get another outcome: the advice of `explain` for the current
/// policy of the route. Empty if the request succeeded.
std::string advice_for(const telemetry::HistoryEntry&, const policy::RoutePolicy&);

/// Returns a few lines for each attempt. The first column says what each line is about. Text that a client or
/// an upstream chose is escaped. `advice` may be empty.
std::string to_text(const telemetry::HistoryEntry&, std::string_view advice);

}  // namespace reprise::tools
