// Translates a response head from HTTP/1 text to the fields of HTTP/2.
#pragma once

#include <string_view>

#include "proxy/http/http2/field.hpp"

namespace reprise::http {

/// Replaces the content of `block` by the fields of an interim or final response. `head` is a whole head as
/// write_response_head writes it. The reason phrase is dropped, because HTTP/2 has none (RFC 9113 8.3.2).
/// append_lines says which fields are omitted and which are sensitive. Precondition: the status is not 101,
/// which HTTP/2 does not have (RFC 9113 8.6).
void write_response_fields(std::string_view head, FieldBlock& block);

}  // namespace reprise::http
