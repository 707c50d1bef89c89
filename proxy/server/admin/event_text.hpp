// What a stream of events consists of, as text: the format of EventSource (HTML, 9.2 Server-sent events).
#pragma once

#include <string>
#include <string_view>

namespace reprise::server {

/// Appends one event. `name` has no line end; `text` may, and arrives with each as LF: CR, LF and CRLF end a
/// line of the format, so that none of them can begin a field of its own.
void append_event(std::string& out, std::string_view name, std::string_view text);

/// The head of a response that lasts until its connection ends: HTTP/1.0 and 1.1 read it alike.
/// `version`: the request's, 10 or 11.
std::string event_stream_head(unsigned version);

}  // namespace reprise::server
