// Translates a request head from HTTP/1 text to the fields of HTTP/2 (rows M33, M34 and M47).
#pragma once

#include <string_view>

#include "proxy/http/http2/field.hpp"

namespace reprise::http {

/// Replaces the content of `block` by the fields of the request. `head` is a whole head that
/// write_request_head wrote: a request line in origin-form, or `*`, and lines that end in CRLF. `scheme`:
/// `http` or `https`. Host becomes `:authority`; append_lines says which fields are omitted and which are
/// sensitive. `never_indexed`: names of more sensitive fields, as a comma list in lower case.
void write_request_fields(std::string_view head, std::string_view scheme, FieldBlock& block,
                          std::string_view never_indexed = {});
/// Writes the same request for a WebSocket as an extended CONNECT (RFC 8441 5), which has no
/// Sec-WebSocket-Key.
void write_websocket_fields(std::string_view head, std::string_view scheme, FieldBlock& block,
                            std::string_view never_indexed = {});

}  // namespace reprise::http
