// The story of a request as JSON, for the admin listener and the control socket.
#pragma once

#include <string_view>

#include "proxy/telemetry/history/history_entry.hpp"
#include "proxy/telemetry/log/json_document.hpp"

namespace reprise::telemetry {

/// Spans are in milliseconds. `advice`: what would change the story, in words; may be empty.
json::object story_json(const HistoryEntry&, std::string_view advice);

}  // namespace reprise::telemetry
