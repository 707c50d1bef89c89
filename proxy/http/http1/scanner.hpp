// Splits heads into tokens in one pass. The framing guard (guard.hpp) then judges the result.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/http1/spelling.hpp"
#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Why a scan ended early: more bytes are needed, or the head is rejected.
using Halt = std::optional<Parsed>;

/// The current position in a buffer, and its end.
struct Cursor {
  const char* at;
  const char* end;
  /// True if the bytes read so far must not be forwarded as they are: they have a line that ends in LF alone,
  /// a fold, or a minor version above 1.
  bool loose = false;

  bool at_end() const { return at == end; }
};

/// Appends field lines to `fields`, and skips the empty line after them. `limit` is the maximum number of
/// lines, including continuation lines of folded fields. The value of a folded field is incomplete, so a
/// `loose` head must be rewritten in clean form and read again. Rejects a folded framing field, because a
/// reader that ignores the fold would frame the body differently.
Halt scan_fields(Cursor&, std::size_t limit, Spelling, std::vector<FieldLine>& fields);

/// Skips the line end that begins at `stop`, which is the first control byte at or after the cursor. If no
/// line end begins at `stop`, returns the rejection `otherwise`.
Halt scan_line_end(Cursor&, const char* stop, Spelling, Rejection otherwise);

/// Returns the first control byte (other than HTAB) in the range, or `end`.
const char* find_control(const char* at, const char* end);

/// Returns true if an incomplete head need not be scanned until more bytes arrive, because the buffer has no
/// empty line and its last line is incomplete. A buffer with only a part of the start line must also have at
/// most `start_line_bytes`. The cost of a head that arrives byte by byte thus stays linear. Always false for
/// a small buffer, so that errors are found early.
bool worth_waiting(std::string_view buffer, std::size_t start_line_bytes, Spelling);

}  // namespace reprise::http
