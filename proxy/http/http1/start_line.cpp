#include "proxy/http/http1/start_line.hpp"

#include <string_view>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

Halt scan_method(Cursor& cursor, std::string_view& method) {
  const char* const first = cursor.at;
  const char* p = first;
  while (p != cursor.end && ascii::is_token(*p)) ++p;
  method = {first, static_cast<std::size_t>(p - first)};
  if (method.size() > longest_method) return Rejection::method_too_long;
  if (p == cursor.end) return Progress::partial;
  if (method.empty()) return Rejection::bad_method;
  if (*p == '\r' || *p == '\n') return Rejection::bad_request_line;
  if (*p != ' ') return Rejection::bad_method;
  cursor.at = p + 1;
  return std::nullopt;
}

Halt scan_target(Cursor& cursor, std::size_t limit, std::string_view& target) {
  const char* const first = cursor.at;
  const char* p = first;
  while (p != cursor.end && is_target_byte(*p)) ++p;
  target = {first, static_cast<std::size_t>(p - first)};
  if (target.size() > limit) return Rejection::target_too_long;
  if (p == cursor.end) return Progress::partial;
  if (target.empty()) return Rejection::bad_target;
  if (*p == '\r' || *p == '\n') return Rejection::bad_request_line;  // HTTP/0.9
  if (*p != ' ') return Rejection::bad_target;
  cursor.at = p + 1;
  return std::nullopt;
}

/// Returns true if the line is `HTTP/d.d` and a CR; each `d` is a digit.
bool is_version(std::string_view line) {
  return line.size() == 9 && ascii::is_digit(line[5]) && line[6] == '.' && ascii::is_digit(line[7]) &&
         line[8] == '\r';
}

/// Rejects a request line without a supported version. Waits for the end of the line, so that the result does
/// not depend on how the bytes arrived.
Halt blame_version(std::string_view rest, std::size_t limit) {
  const std::size_t line_end = rest.find('\n');
  if (line_end == std::string_view::npos) {
    return rest.size() > limit ? Halt{Rejection::bad_target} : Halt{Progress::partial};
  }
  const std::string_view line = rest.substr(0, line_end);
  const bool has_blank = line.find(' ') != std::string_view::npos;
  if (!line.starts_with("HTTP/")) return has_blank ? Rejection::bad_target : Rejection::bad_request_line;
  return is_version(line) && line[5] != '1' ? Rejection::bad_version : Rejection::bad_request_line;
}

Halt scan_version(Cursor& cursor, std::size_t limit, unsigned& minor_version) {
  const std::string_view rest(cursor.at, static_cast<std::size_t>(cursor.end - cursor.at));
  const std::string_view shape = rest.substr(0, 10);
  if (!shape.starts_with("HTTP/1.") || !shape.ends_with("\r\n") || !is_version(shape.substr(0, 9)))
    return blame_version(rest, limit);
  minor_version = shape[7] == '0' ? 0 : 1;  // newer versions are read as 1.1 (RFC 9110 6.2)
  cursor.at += shape.size();
  return std::nullopt;
}

}  // namespace

Halt skip_empty_lines(Cursor& cursor) {
  for (unsigned lines = 0; !cursor.at_end() && *cursor.at == '\r'; ++lines) {
    if (lines == 4) return Rejection::bad_request_line;
    if (cursor.at + 1 == cursor.end) return Progress::partial;
    if (cursor.at[1] != '\n') return Rejection::bad_request_line;
    cursor.at += 2;
  }
  return cursor.at_end() ? Halt{Progress::partial} : std::nullopt;
}

Halt scan_request_line(Cursor& cursor, std::size_t target_limit, RequestHead& head) {
  if (Halt halt = scan_method(cursor, head.method)) return halt;
  if (Halt halt = scan_target(cursor, target_limit, head.target)) return halt;
  return scan_version(cursor, target_limit, head.minor_version);
}

Halt scan_status_line(Cursor& cursor, ResponseHead& head) {
  constexpr std::string_view shape = "HTTP/1.x ddd";
  const auto at_hand = static_cast<std::size_t>(cursor.end - cursor.at);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i == at_hand) return Progress::partial;
    const char c = cursor.at[i];
    const bool fits = shape[i] == 'x' || shape[i] == 'd' ? ascii::is_digit(c) : c == shape[i];
    if (!fits) return i >= 9 ? Rejection::bad_status : Rejection::bad_status_line;
  }
  head.minor_version = cursor.at[7] == '0' ? 0 : 1;
  cursor.loose = cursor.at[7] > '1';
  head.status = (cursor.at[9] - '0') * 100 + (cursor.at[10] - '0') * 10 + (cursor.at[11] - '0');
  if (head.status < 100) return Rejection::bad_status;
  const char* p = cursor.at + shape.size();
  if (p == cursor.end) return Progress::partial;
  if (*p == ' ') {
    ++p;
  } else if (*p != '\r' && *p != '\n') {
    return ascii::is_digit(*p) ? Rejection::bad_status : Rejection::bad_status_line;
  }
  const char* const stop = find_control(p, cursor.end);
  if (Halt halt = scan_line_end(cursor, stop, Spelling::tolerant, Rejection::bad_status_line)) return halt;
  head.reason = {p, static_cast<std::size_t>(stop - p)};
  return std::nullopt;
}

}  // namespace reprise::http
