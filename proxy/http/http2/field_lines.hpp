// Turns the lines of an HTTP/1 head or trailer section into fields of HTTP/2.
#pragma once

#include <string_view>

#include "proxy/http/http2/field.hpp"

namespace reprise::http {

/// Removes `text` up to the first `end`, and `end` itself. Returns the removed part without `end`.
/// Precondition: `end` occurs.
std::string_view take_until(std::string_view& text, std::string_view end);

/// Empties the block. `text`: the text whose lines are appended next; the block refers to it.
void begin_block(std::string_view text, FieldBlock& block);

/// Appends the fields of `lines` to the block; each line ends in CRLF, and an empty line is skipped. Names
/// are in lower case (RFC 9113 8.2.1). Every field stays a field of its own.
/// - Omitted: the fields of one HTTP/1 connection and HTTP2-Settings (RFC 9113 8.2.2), and the fields that
///   Connection names, if Connection may remove them (row J1). TE is sent only as `trailers`.
/// - Host is stored in `authority` instead, unless `authority` is null.
/// - Authorization, a Cookie or Set-Cookie of less than 20 bytes, and the fields in the comma list
///   `never_indexed` are sensitive (row M47).
void append_lines(std::string_view lines, std::string_view never_indexed, std::string_view* authority,
                  FieldBlock& block);

/// Replaces the content of `block` by the fields of a trailer section. `lines`: each ends in CRLF.
void write_trailer_fields(std::string_view lines, FieldBlock& block);

}  // namespace reprise::http
