// The tokeniser of heads, in one pass over the bytes; the guard gives the result its meaning.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/http1/spelling.hpp"
#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Where a reading ended early: more bytes are needed, or a refusal.
using Halt = std::optional<Parsed>;

/// A place in a buffer.
struct Cursor {
  const char* at;
  const char* end;
  /// What was read so far holds a spelling that must not leave us: a line that ends in LF alone, a fold, a
  /// minor version over 1.
  bool loose = false;

  bool at_end() const { return at == end; }
};

/// Reads field lines and the empty line behind them. `fields` is appended to; `limit` is how many lines there
/// may be, those that continue a folded field included. What a fold says is not in the value: a head that is
/// `loose` is made clean and read again. A framing field is never folded: who reads its first line alone
/// would frame the body in another way than we do.
Halt scan_fields(Cursor&, std::size_t limit, Spelling, std::vector<FieldLine>& fields);

/// Steps over the line end that begins at `stop`, the first control byte at or behind the cursor.
Halt scan_line_end(Cursor&, const char* stop, Spelling, Rejection otherwise);

/// First control byte (HTAB is none) in the range, or `end`.
const char* find_control(const char* at, const char* end);

/// True where a large buffer is not worth a full reading yet: no empty line is in it and its last line is
/// incomplete, or it is all one start line of at most `start_line_bytes`. Keeps a head that comes byte by
/// byte at linear cost; a small buffer is always read, so that refusals come early.
bool worth_waiting(std::string_view buffer, std::size_t start_line_bytes, Spelling);

}  // namespace reprise::http
