// Translates a request head from HTTP/1 text to the fields of HTTP/2 (rows M33, M34 and M47).
#pragma once

#include <string_view>

#include "proxy/http/http2/field.hpp"

namespace reprise::http {

/// Replaces the content of `block` by the fields of the request. `head` is a whole head that
/// write_request_head wrote: a request line in origin-form, or `*`, and lines that end in CRLF. `scheme`:
/// `http` or `https`.
/// - Names are in lower case. Host becomes `:authority`.
/// - Omitted: Connection, Keep-Alive, Proxy-Connection, Transfer-Encoding, Upgrade and HTTP2-Settings. Every
///   field that Connection names was removed before, but TE, which is sent only as `trailers`.
/// - Authorization, and a Cookie of less than 20 bytes, are sensitive.
void write_request_fields(std::string_view head, std::string_view scheme, FieldBlock& block);

/// Replaces the content of `block` by the fields of a trailer section. `lines`: each ends in CRLF.
void write_trailer_fields(std::string_view lines, FieldBlock& block);

}  // namespace reprise::http
