// Helpers of the fuzz targets that parse heads: simple parsers of fields, and functions that write a head in
// another spelling.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/http1/fields.hpp"
#include "proxy/http/http1/guard.hpp"
#include "proxy/http/message/head.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {

inline bool lies_in(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

inline std::string lowered(std::string_view text) {
  std::string low(text);
  for (char& c : low) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return low;
}

inline std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Returns the non-empty members of a comma-separated list in lower case.
inline std::vector<std::string> members(std::string_view list) {
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view member = trimmed(list.substr(begin, end - begin));
    if (!member.empty()) all.push_back(lowered(member));
    begin = end + 1;
  }
  return all;
}

inline std::vector<std::string> members_of(const std::vector<http::FieldLine>& fields,
                                           std::string_view name) {
  std::vector<std::string> all;
  for (const http::FieldLine& field : fields) {
    if (lowered(field.name) != name) continue;
    for (std::string& member : members(field.value)) all.push_back(std::move(member));
  }
  return all;
}

inline bool contains(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

inline std::size_t count_of(const std::vector<http::FieldLine>& fields, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(fields.begin(), fields.end(),
                    [name](const http::FieldLine& field) { return lowered(field.name) == name; }));
}

inline bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

inline bool same(const http::Framing& a, const http::Framing& b) {
  return a.kind == b.kind && (a.kind != http::Framing::Kind::length || a.length == b.length);
}

/// Checks a field line that the parser accepted. If `blanks` is true, blanks before the colon are allowed.
inline void judge_line(const http::FieldLine& field, bool blanks) {
  law(!field.name.empty() && field.name.find_first_of(" \t:\r\n,;\"()") == std::string_view::npos,
      "a name is a token");
  law(lies_in(field.name, field.line) && field.name.data() == field.line.data(),
      "a line begins with its name");
  law(lies_in(field.value, field.line), "a value lies in its line");
  const std::string_view behind = field.line.substr(field.name.size());
  law(blanks ? trimmed(behind).starts_with(':') : behind.starts_with(':'), "the colon is where it may be");
  law(field.line.ends_with("\r\n") && !has_control(field.line.substr(0, field.line.size() - 2)),
      "no control bytes but the line end");
  law(field.value == trimmed(behind.substr(behind.find(':') + 1, behind.size() - behind.find(':') - 3)),
      "a value has no outer blanks and is whole");
  law(field.id == http::identify_field(field.name), "a line knows its field");
}

/// Returns the fields in the plainest spelling, followed by the empty line.
inline std::string plain_fields(const std::vector<http::FieldLine>& fields) {
  std::string text;
  for (const http::FieldLine& field : fields)
    text.append(field.name).append(": ").append(field.value).append("\r\n");
  return text + "\r\n";
}

/// Returns the head of an old upstream in normal form: every line ends with CRLF, a folded line is joined to
/// the line before with one blank, and a minor version above 1 becomes 1.
inline std::string made_clean(std::string_view head) {
  std::vector<std::string> lines;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty() || (line.front() != ' ' && line.front() != '\t')) {
      lines.emplace_back(line);
      continue;
    }
    std::string& before = lines.back();
    before.erase(before.find_last_not_of(" \t") + 1);
    if (!trimmed(line).empty()) before.append(" ").append(trimmed(line));
  }
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\r\n");
  if (text[7] != '0') text[7] = '1';
  return text;
}

inline std::string request_line(const http::RequestHead& head) {
  return std::string(head.method).append(" ").append(head.target) +
         (head.minor_version == 1 ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
}

}  // namespace reprise::fuzz
