// Splits heads into tokens in one pass. The guard then judges the result.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/http1/spelling.hpp"
#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// The reason why a scan ended early: more bytes are needed, or the head is rejected.
using Halt = std::optional<Parsed>;

/// A position in a buffer.
struct Cursor {
  const char* at;
  const char* end;
  /// True if the bytes read so far must not be forwarded as they are: a line that ends in LF alone, a fold,
  /// or a minor version above 1.
  bool loose = false;

  bool at_end() const { return at == end; }
};

/// Reads field lines and the empty line behind them. `fields` is appended to; `limit` is how many lines there
/// may be, those that continue a folded field included. What a fold says is not in the value: a head that is
/// `loose` is made clean and read again. A framing field is never folded: who reads its first line alone
/// would frame the body in another way than we do.
Halt scan_fields(Cursor&, std::size_t limit, Spelling, std::vector<FieldLine>& fields);

/// Skips the line end that begins at `stop`, which is the first control byte at or after the cursor.
Halt scan_line_end(Cursor&, const char* stop, Spelling, Rejection otherwise);

/// Returns the first control byte (HTAB does not count) in the range, or `end`.
const char* find_control(const char* at, const char* end);

/// Returns true if a large buffer need not be scanned yet: it holds no empty line and its last line is
/// incomplete, or it is one start line of at most `start_line_bytes`. This keeps the cost linear for a head
/// that arrives byte by byte. Always false for a small buffer, so that errors are found early.
bool worth_waiting(std::string_view buffer, std::size_t start_line_bytes, Spelling);

}  // namespace reprise::http
