// The tokeniser of heads, in one pass over the bytes; the guard gives the result its meaning.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/head.hpp"

namespace reprise::http {

/// Where a reading ended early: more bytes are needed, or a refusal.
using Halt = std::optional<Parsed>;

/// A place in a buffer.
struct Cursor {
  const char* at;
  const char* end;

  bool at_end() const { return at == end; }
};

/// Steps over at most four empty lines before a request line (RFC 9112 2.2).
Halt skip_empty_lines(Cursor&);
/// Reads method, target and version, and steps over their CRLF.
Halt scan_request_line(Cursor&, std::size_t target_limit, RequestHead&);
/// Reads `HTTP/1.x SP 3DIGIT [SP reason]`, byte by byte, so that what is no answer is refused at its first
/// wrong byte (row B8). Where the blank behind the status is missing, the reason begins right behind the
/// digits.
Halt scan_status_line(Cursor&, ResponseHead&);

/// Whether `name : value` is refused (requests) or read as `name: value` (responses, row B7).
enum class BlankBeforeColon : std::uint8_t { refused, accepted };

/// Reads field lines and the empty line behind them. `fields` is appended to; `limit` is the most it may
/// hold.
Halt scan_fields(Cursor&, std::size_t limit, BlankBeforeColon, std::vector<FieldLine>& fields);

/// First control byte (HTAB is none) in the range, or `end`.
const char* find_control(const char* at, const char* end);

/// True where a large buffer is not worth a full reading yet: no empty line is in it and its last line is
/// incomplete, or it is all one start line of at most `start_line_bytes`. Keeps a head that comes byte by
/// byte at linear cost; a small buffer is always read, so that refusals come early.
bool worth_waiting(std::string_view buffer, std::size_t start_line_bytes);

}  // namespace reprise::http
