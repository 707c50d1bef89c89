#include "proxy/tools/inject/documents.hpp"

#include <algorithm>

namespace reprise::tools {
namespace {

bool is_marker(std::string_view line, std::string_view marker) {
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  return line.starts_with(marker) &&
         (line.size() == marker.size() ||
          std::string_view(" \t\r\n").find(line[marker.size()]) != std::string_view::npos);
}

/// Returns true for a blank line, a comment, or a directive such as `%YAML 1.2`.
bool has_no_content(std::string_view line) {
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  if (line.starts_with('%')) return true;
  const std::size_t first = line.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos || line[first] == '#';
}

/// Returns the number of bytes of the first character; 0 if it is invalid.
std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

std::vector<Document> documents_of(std::string_view file) {
  std::vector<Document> documents;
  std::size_t begin = 0;
  std::size_t first_line = 1;
  std::size_t line_number = 1;
  std::size_t number = 0;
  bool says_something = false;
  const auto cut = [&](std::size_t end, std::size_t next_line) {
    if (end > begin)
      documents.push_back({file.substr(begin, end - begin), says_something ? ++number : 0, first_line});
    begin = end;
    first_line = next_line;
    says_something = false;
  };
  for (std::size_t at = 0; at < file.size(); ++line_number) {
    const std::size_t line_end = file.find('\n', at);
    const std::size_t next = line_end == std::string_view::npos ? file.size() : line_end + 1;
    const std::string_view line = file.substr(at, next - at);
    if (is_marker(line, "---")) {
      cut(at, line_number);
      says_something = true;
    } else if (is_marker(line, "...")) {
      cut(next, line_number + 1);
    } else if (!has_no_content(line)) {
      says_something = true;
    }
    at = next;
  }
  cut(file.size(), line_number);
  return documents;
}

std::optional<Fault> not_text(std::string_view file) {
  std::size_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t length = length_of_character(file.substr(at, 4));
    if (length == 0) return Fault{line, at - line_start + 1, "not UTF-8 text: is this another kind of file?"};
    at += length;
    if (file[at - 1] == '\n') {
      ++line;
      line_start = at;
    }
  }
  return std::nullopt;
}

}  // namespace reprise::tools
