// The text format of event streams for EventSource (HTML, 9.2 Server-sent events).
#pragma once

#include <string>
#include <string_view>

namespace reprise::server {

/// Appends one event. `name` must not contain a line end. Each line end in `text` (CR, LF or CRLF) is
/// encoded: it arrives as LF, and cannot start a new field.
void append_event(std::string& out, std::string_view name, std::string_view text);

/// Returns the head of a response that ends with its connection, valid in HTTP/1.0 and 1.1. `version`: the
/// request's version, 10 or 11.
std::string event_stream_head(unsigned version);

}  // namespace reprise::server
