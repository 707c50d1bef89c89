// Request lines and status lines, read strictly and in one pass.
#pragma once

#include <cstddef>

#include "proxy/http/http1/scanner.hpp"

namespace reprise::http {

/// Skips at most four empty lines before a request line (RFC 9112 2.2).
Halt skip_empty_lines(Cursor&);
/// Reads method, target and version, and skips their CRLF.
Halt scan_request_line(Cursor&, std::size_t target_limit, RequestHead&);
/// Reads `HTTP/1.x SP 3DIGIT [SP reason]` byte by byte, so that bytes that are not a response are rejected at
/// the first wrong byte (row B8). If the blank after the status is missing, the reason begins right after the
/// digits. Always reads as `Spelling::tolerant` does.
Halt scan_status_line(Cursor&, ResponseHead&);

}  // namespace reprise::http
