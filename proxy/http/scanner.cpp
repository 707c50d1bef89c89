// Field lines, one pass: names by table, values eight bytes at a time.
#include "proxy/http/scanner.hpp"

#include <cstdint>
#include <cstring>

#include "proxy/http/ascii.hpp"
#include "proxy/http/guard.hpp"

namespace reprise::http {
namespace {

constexpr std::uint64_t each_byte(std::uint64_t byte) { return 0x0101010101010101U * byte; }

/// True if one of eight bytes is below 0x20 or is DEL: the classic borrow test, exact as a yes or no.
bool has_suspect(std::uint64_t eight) {
  const std::uint64_t high = each_byte(0x80);
  const std::uint64_t below_blank = (eight - each_byte(0x20)) & ~eight & high;
  const std::uint64_t flipped = eight ^ each_byte(0x7f);
  const std::uint64_t is_delete = (flipped - each_byte(0x01)) & ~flipped & high;
  return (below_blank | is_delete) != 0;
}

/// Reads a name up to its colon, and steps over the colon.
Halt scan_name(Cursor& cursor, BlankBeforeColon blanks, std::string_view& name) {
  const char* const first = cursor.at;
  const char* p = first;
  while (p != cursor.end && ascii::is_token(*p)) ++p;
  if (p == cursor.end) return Progress::partial;
  name = {first, static_cast<std::size_t>(p - first)};
  if (name.empty()) return Cause::bad_field_name;
  if (ascii::is_blank(*p) && blanks == BlankBeforeColon::accepted) {
    while (p != cursor.end && ascii::is_blank(*p)) ++p;
    if (p == cursor.end) return Progress::partial;
  }
  if (*p != ':') return Cause::bad_field_name;
  cursor.at = p + 1;
  return std::nullopt;
}

/// Reads a value up to its CRLF, and steps over that.
Halt scan_value(Cursor& cursor, std::string_view& value) {
  const char* first = cursor.at;
  while (first != cursor.end && ascii::is_blank(*first)) ++first;
  const char* const stop = find_control(first, cursor.end);
  if (stop == cursor.end) return Progress::partial;
  if (*stop != '\r') return Cause::bad_field_value;
  if (stop + 1 == cursor.end) return Progress::partial;
  if (stop[1] != '\n') return Cause::bad_field_value;
  const char* last = stop;
  while (last != first && ascii::is_blank(last[-1])) --last;
  value = {first, static_cast<std::size_t>(last - first)};
  cursor.at = stop + 2;
  return std::nullopt;
}

}  // namespace

const char* find_control(const char* at, const char* end) {
  while (true) {
    while (end - at >= 8) {
      std::uint64_t eight = 0;
      std::memcpy(&eight, at, 8);
      if (has_suspect(eight)) break;
      at += 8;
    }
    // The block with the suspect byte, or the tail; a tab goes on behind it.
    const char* const stop = end - at >= 8 ? at + 8 : end;
    while (at != stop && !ascii::is_control(*at)) ++at;
    if (at != stop || stop == end) return at;
  }
}

Halt scan_fields(Cursor& cursor, std::size_t limit, BlankBeforeColon blanks, std::vector<FieldLine>& fields) {
  while (true) {
    if (cursor.at_end()) return Progress::partial;
    const char* const first = cursor.at;
    if (*first == '\r') {
      if (first + 1 == cursor.end) return Progress::partial;
      if (first[1] != '\n') return Cause::bad_field_name;
      cursor.at = first + 2;
      return std::nullopt;
    }
    if (ascii::is_blank(*first)) return Cause::obs_fold;
    if (fields.size() == limit) return Cause::too_many_fields;
    FieldLine field;
    if (Halt halt = scan_name(cursor, blanks, field.name)) return halt;
    if (Halt halt = scan_value(cursor, field.value)) return halt;
    field.line = {first, static_cast<std::size_t>(cursor.at - first)};
    field.id = identify_field(field.name);
    fields.push_back(field);
  }
}

bool worth_waiting(std::string_view buffer, std::size_t start_line_bytes) {
  constexpr std::size_t small = 2048;
  if (buffer.size() < small || buffer.back() == '\n') return false;
  std::size_t line_end = buffer.find('\n');
  if (line_end == std::string_view::npos) return buffer.size() <= start_line_bytes;
  for (; line_end != std::string_view::npos; line_end = buffer.find('\n', line_end + 1)) {
    if (line_end == 0 || buffer[line_end - 1] != '\r') return false;  // a bare LF: the reading refuses it
    if (buffer.substr(line_end + 1, 2) == "\r\n") return false;
  }
  return true;
}

}  // namespace reprise::http
