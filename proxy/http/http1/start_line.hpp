// Request lines and status lines, read strictly and in one pass.
#pragma once

#include <cstddef>

#include "proxy/http/http1/scanner.hpp"

namespace reprise::http {

/// Steps over at most four empty lines before a request line (RFC 9112 2.2).
Halt skip_empty_lines(Cursor&);
/// Reads method, target and version, and steps over their CRLF.
Halt scan_request_line(Cursor&, std::size_t target_limit, RequestHead&);
/// Reads `HTTP/1.x SP 3DIGIT [SP reason]`, byte by byte, so that what is no response is refused at its first
/// wrong byte (row B8). If the blank after the status is missing, the reason begins right after the digits.
/// Always tolerant.
Halt scan_status_line(Cursor&, ResponseHead&);

}  // namespace reprise::http
