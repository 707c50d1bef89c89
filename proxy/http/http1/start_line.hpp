// Request lines and status lines, read strictly and in one pass.
#pragma once

#include <cstddef>

#include "proxy/http/http1/scanner.hpp"

namespace reprise::http {

/// Maximum number of bytes of a method.
inline constexpr std::size_t longest_method = 32;

/// Returns true for a byte that a request target may have: not a blank, a control byte, or `#`.
constexpr bool is_target_byte(char byte) {
  return static_cast<unsigned char>(byte) > 0x20 && byte != 0x7f && byte != '#';
}

/// Skips at most four empty lines before a request line (RFC 9112 2.2).
Halt skip_empty_lines(Cursor&);
/// Reads method, target and version, and skips their CRLF.
Halt scan_request_line(Cursor&, std::size_t target_limit, RequestHead&);
/// Reads `HTTP/1.x SP 3DIGIT [SP reason]` byte by byte, so that bytes that are not a response are rejected at
/// the first wrong byte (row B8). If the blank after the status is missing, the reason begins right after the
/// digits. Always reads as `Spelling::tolerant` does.
Halt scan_status_line(Cursor&, ResponseHead&);

}  // namespace reprise::http
