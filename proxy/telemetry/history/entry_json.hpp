// A finished request of the history as JSON, for the admin listener and the control socket.
#pragma once

#include <string_view>

#include "proxy/telemetry/history/history_entry.hpp"
#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::telemetry {

/// Returns the entry as JSON, with durations in milliseconds. `advice`: what the user can change so that such
/// a request ends differently; may be empty.
json::object story_json(const HistoryEntry&, std::string_view advice);

}  // namespace reprise::telemetry
