// Scans field lines in one pass: names by a table, values eight bytes at a time.
#include "proxy/http/http1/scanner.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

#include "proxy/http/http1/fields.hpp"
#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

constexpr std::uint64_t each_byte(std::uint64_t byte) { return 0x0101010101010101U * byte; }

/// Marks each byte that is below 0x20 or is DEL with its highest bit; returns 0 if there is none. Uses a
/// common subtract-with-borrow trick, which may also mark bytes that are more significant than such a byte.
std::uint64_t mark_suspects(std::uint64_t eight) {
  const std::uint64_t high = each_byte(0x80);
  const std::uint64_t below_blank = (eight - each_byte(0x20)) & ~eight & high;
  const std::uint64_t flipped = eight ^ each_byte(0x7f);
  const std::uint64_t is_delete = (flipped - each_byte(0x01)) & ~flipped & high;
  return below_blank | is_delete;
}

/// Returns the place in memory of the first marked byte. Precondition: there is one.
std::size_t first_marked(std::uint64_t marks) {
  constexpr bool is_little = std::endian::native == std::endian::little;
  return static_cast<std::size_t>(is_little ? std::countr_zero(marks) : std::countl_zero(marks)) / 8;
}

/// Reads a name and skips its colon.
Halt scan_name(Cursor& cursor, Spelling spelling, std::string_view& name) {
  const char* const first = cursor.at;
  const char* p = first;
  while (p != cursor.end && ascii::is_token(*p)) ++p;
  if (p == cursor.end) return Progress::partial;
  name = {first, static_cast<std::size_t>(p - first)};
  if (name.empty()) return Rejection::bad_field_name;
  if (ascii::is_blank(*p) && spelling == Spelling::tolerant) {
    while (p != cursor.end && ascii::is_blank(*p)) ++p;
    if (p == cursor.end) return Progress::partial;
  }
  if (*p != ':') return Rejection::bad_field_name;
  cursor.at = p + 1;
  return std::nullopt;
}

/// Reads a value and skips its line end.
Halt scan_value(Cursor& cursor, Spelling spelling, std::string_view& value) {
  const char* first = cursor.at;
  while (first != cursor.end && ascii::is_blank(*first)) ++first;
  const char* const stop = find_control(first, cursor.end);
  if (cursor.end - stop >= 2 && stop[0] == '\r' && stop[1] == '\n') {
    cursor.at = stop + 2;
  } else if (Halt halt = scan_line_end(cursor, stop, spelling, Rejection::bad_field_value)) {
    return halt;
  }
  const char* last = stop;
  while (last != first && ascii::is_blank(last[-1])) --last;
  value = {first, static_cast<std::size_t>(last - first)};
  return std::nullopt;
}

bool may_be_continued(const FieldLine& field) {
  return field.id != FieldId::content_length && field.id != FieldId::transfer_encoding;
}

/// Reads a line that continues the previous field.
Halt scan_fold(Cursor& cursor, Spelling spelling, const std::vector<FieldLine>& fields) {
  if (spelling == Spelling::strict || fields.empty() || !may_be_continued(fields.back()))
    return Rejection::obs_fold;
  cursor.loose = true;
  std::string_view continued;
  return scan_value(cursor, spelling, continued);
}

}  // namespace

const char* find_control(const char* at, const char* end) {
  while (end - at >= 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, 8);
    const std::uint64_t marks = mark_suspects(eight);
    if (marks == 0) {
      at += 8;
      continue;
    }
    at += first_marked(marks);
    if (ascii::is_control(*at)) return at;
    ++at;  // a tab is suspect but allowed
  }
  while (at != end && !ascii::is_control(*at)) ++at;
  return at;
}

Halt scan_line_end(Cursor& cursor, const char* stop, Spelling spelling, Rejection otherwise) {
  if (stop == cursor.end) return Progress::partial;
  if (*stop == '\n' && spelling == Spelling::tolerant) {
    cursor.loose = true;
    cursor.at = stop + 1;
    return std::nullopt;
  }
  if (*stop != '\r') return otherwise;
  if (stop + 1 == cursor.end) return Progress::partial;
  if (stop[1] != '\n') return otherwise;
  cursor.at = stop + 2;
  return std::nullopt;
}

Halt scan_fields(Cursor& cursor, std::size_t limit, Spelling spelling, std::vector<FieldLine>& fields) {
  std::size_t folds = 0;
  while (true) {
    if (cursor.at_end()) return Progress::partial;
    const char* const first = cursor.at;
    if (*first == '\r' || *first == '\n')
      return scan_line_end(cursor, first, spelling, Rejection::bad_field_name);
    if (ascii::is_blank(*first)) {
      if (Halt halt = scan_fold(cursor, spelling, fields)) return halt;
      if (fields.size() + ++folds > limit) return Rejection::too_many_fields;
      continue;
    }
    if (fields.size() + folds == limit) return Rejection::too_many_fields;
    FieldLine field;
    if (Halt halt = scan_name(cursor, spelling, field.name)) return halt;
    if (Halt halt = scan_value(cursor, spelling, field.value)) return halt;
    field.line = {first, static_cast<std::size_t>(cursor.at - first)};
    field.id = identify_field(field.name);
    fields.push_back(field);
  }
}

bool worth_waiting(std::string_view buffer, std::size_t start_line_bytes, Spelling spelling) {
  constexpr std::size_t small = 2048;
  if (buffer.size() < small || buffer.back() == '\n') return false;
  std::size_t line_end = buffer.find('\n');
  if (line_end == std::string_view::npos) return buffer.size() <= start_line_bytes;
  for (; line_end != std::string_view::npos; line_end = buffer.find('\n', line_end + 1)) {
    const bool bare = line_end == 0 || buffer[line_end - 1] != '\r';
    // Does not wait for more bytes after a bare LF, because the full scan will reject the head.
    if (bare && (line_end == 0 || spelling == Spelling::strict)) return false;
    const std::string_view next = buffer.substr(line_end + 1, 2);
    if (next == "\r\n" || next.starts_with('\n')) return false;
  }
  return true;
}

}  // namespace reprise::http
