#include "config/yaml/yaml_mistake.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace reprise::config {
namespace {

using Found = std::optional<YamlMistake>;
constexpr std::size_t none = std::string_view::npos;

struct Bracket {
  char sign;
  std::size_t line;
  std::size_t column;
};

bool is_word_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == none ? text.size() : end + 1);
  }
  return lines;
}

std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool is_blank_or_comment(std::string_view line) {
  const std::size_t start = indent_of(line);
  return start == line.size() || line[start] == '#';
}

// Returns the part of a line that a message quotes.
std::string shortened(std::string_view text) {
  constexpr std::size_t longest = 60;
  return std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

// Scans lines, and records brackets, quotes and comments.
class Scan {
 public:
  /// Scans the first `count` lines.
  Scan(const std::vector<std::string_view>& lines, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) read(lines[i], i + 1);
  }

  const std::vector<Bracket>& open() const { return open_; }
  std::optional<Bracket> quote() const { return quote_; }
  /// Returns a `${` inside brackets that is not in quotes, if there is one.
  std::optional<Bracket> bare_replacement() const { return replacement_; }
  /// Returns a closing bracket without an opening one, if there is one.
  std::optional<Bracket> stray() const { return stray_; }

 private:
  void read(std::string_view line, std::size_t number) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quote_) {
        // An escaped quote: \" inside double quotes, '' inside single quotes.
        const bool escapes = c == (quote_->sign == '"' ? '\\' : '\'') && i + 1 < line.size() &&
                             (c == '\\' || line[i + 1] == '\'');
        if (escapes) {
          ++i;
        } else if (c == quote_->sign) {
          quote_.reset();
        }
        continue;
      }
      const bool begins = i == 0 || std::string_view(" [{,:").find(line[i - 1]) != none;
      if (c == '#' && (i == 0 || line[i - 1] == ' ')) return;
      if ((c == '"' || c == '\'') && begins) {
        quote_ = Bracket{c, number, i + 1};
      } else if (c == '$' && line.substr(i).starts_with("${")) {
        if (!open_.empty()) replacement_ = Bracket{c, number, i + 1};
        i = std::min(line.find('}', i), line.size());
      } else if ((c == '{' || c == '[') && (begins || !open_.empty())) {
        open_.push_back({c, number, i + 1});
      } else if (c == '}' || c == ']') {
        close(c, number, i + 1);
      }
    }
  }

  void close(char sign, std::size_t line, std::size_t column) {
    if (open_.empty() || (open_.back().sign == '{') != (sign == '}')) {
      if (!stray_) stray_ = Bracket{sign, line, column};
    } else {
      open_.pop_back();
    }
  }

  std::vector<Bracket> open_;
  std::optional<Bracket> quote_;
  std::optional<Bracket> replacement_;
  std::optional<Bracket> stray_;
};

/// Returns the value that begins at that column. A `${...}` ends at its closing brace; any other value ends
/// before the next blank, comma or closing bracket.
std::string_view value_at(std::string_view line, std::size_t column) {
  const std::string_view rest = line.substr(std::min(column - 1, line.size()));
  const std::size_t end = rest.starts_with("${") ? rest.find('}') + 1 : rest.find_first_of(" ,]}");
  return rest.substr(0, end);
}

Found bare_replacement(const Scan& scan, const std::vector<std::string_view>& lines) {
  const auto at = scan.bare_replacement();
  if (!at) return std::nullopt;
  const std::string value = shortened(value_at(lines[at->line - 1], at->column));
  return YamlMistake{
      at->line, at->column,
      "${...} inside brackets must be quoted, because its own braces end the mapping: write \"" + value +
          "\""};
}

Found odd_beginning(const std::vector<std::string_view>& lines, std::size_t line, std::size_t column) {
  const std::string_view text = lines[line - 1];
  if (column > text.size() || std::string_view("*@`%&!|>").find(text[column - 1]) == none)
    return std::nullopt;
  const std::string value = shortened(value_at(text, column));
  return YamlMistake{line, column,
                     "a value that begins with " + std::string(1, text[column - 1]) +
                         " must be quoted: write \"" + value + "\""};
}

Found unclosed(const Scan& whole) {
  if (const auto quote = whole.quote())
    return YamlMistake{quote->line, quote->column,
                       "this quotation mark is not closed: write another " + std::string(1, quote->sign) +
                           " at the end of the value"};
  if (const auto stray = whole.stray())
    return YamlMistake{stray->line, stray->column,
                       "this " + std::string(1, stray->sign) +
                           " has no opening bracket: remove it, or write the " +
                           (stray->sign == '}' ? "{" : "[") + " before it"};
  if (whole.open().empty()) return std::nullopt;
  const Bracket& bracket = whole.open().back();
  const char wanted = bracket.sign == '{' ? '}' : ']';
  return YamlMistake{bracket.line, bracket.column,
                     "this " + std::string(1, bracket.sign) + " is not closed: write the " +
                         std::string(1, wanted) + " where the " + (wanted == '}' ? "mapping" : "list") +
                         " ends"};
}

/// Returns the number of the closest previous line with content; 0 if there is none.
std::size_t line_before(const std::vector<std::string_view>& lines, std::size_t line) {
  for (--line; line > 0; --line) {
    if (!is_blank_or_comment(lines[line - 1])) return line;
  }
  return 0;
}

/// Returns the content of a line, without indentation, list dashes and comment.
std::string_view content_of(std::string_view line) {
  line.remove_prefix(indent_of(line));
  while (line.starts_with("- ")) {
    line.remove_prefix(2);
    line.remove_prefix(indent_of(line));
  }
  line = line.substr(0, line.find(" #"));
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

Found missing_blank(const std::vector<std::string_view>& lines, std::size_t line) {
  for (const std::size_t at : {line_before(lines, line), line}) {
    if (at == 0 || at > lines.size()) continue;
    const std::string_view content = content_of(lines[at - 1]);
    const std::string mended = with_blank_behind_colon(content);
    if (mended.empty()) continue;
    const auto start = static_cast<std::size_t>(content.data() - lines[at - 1].data());
    return YamlMistake{at, start + content.find(':') + 2,
                       "a space is missing after the colon: write " + shortened(mended)};
  }
  return std::nullopt;
}

/// Finds two keys on one line, such as `defaults: mode: off`.
Found two_keys(std::string_view line, std::size_t number) {
  const std::string_view content = content_of(line);
  const std::size_t first = content.find(": ");
  if (first == none || content.find_first_of("\"'{[") < content.find(": ", first + 2)) return std::nullopt;
  const std::string_view value = content.substr(first + 2);
  if (value.find(": ") == none) return std::nullopt;
  const auto start = static_cast<std::size_t>(value.data() - line.data());
  return YamlMistake{number, start + 1,
                     "two keys are on one line: write " + shortened(content.substr(0, first)) + ": {" +
                         shortened(value) + "}, or write the second key on its own line, indented deeper"};
}

/// Returns the indentation columns of the levels that are open at the beginning of this line. A list item
/// opens two levels: at its dash and at its content.
std::vector<std::size_t> levels_above(const std::vector<std::string_view>& lines, std::size_t line) {
  std::vector<std::size_t> levels;
  for (std::size_t i = 0; i + 1 < line; ++i) {
    if (is_blank_or_comment(lines[i])) continue;
    const std::size_t indent = indent_of(lines[i]);
    while (!levels.empty() && levels.back() > indent) levels.pop_back();
    if (levels.empty() || levels.back() < indent) levels.push_back(indent);
    if (lines[i].substr(indent).starts_with("- ")) {
      const std::size_t inside = indent + 1 + indent_of(lines[i].substr(indent + 1));
      levels.push_back(inside);
    }
  }
  return levels;
}

std::string blanks(std::size_t count) { return std::to_string(count) + (count == 1 ? " space" : " spaces"); }

Found indentation(const std::vector<std::string_view>& lines, std::size_t line) {
  if (line > lines.size() || is_blank_or_comment(lines[line - 1])) return std::nullopt;
  const std::size_t above = line_before(lines, line);
  if (above == 0) return std::nullopt;
  const std::size_t indent = indent_of(lines[line - 1]);
  const std::vector<std::size_t> levels = levels_above(lines, line);
  const bool opens = content_of(lines[above - 1]).ends_with(':');
  const bool known = std::find(levels.begin(), levels.end(), indent) != levels.end();
  if (known || (opens && indent > levels.back())) return std::nullopt;
  std::string text = "this line is indented by " + blanks(indent) + ", which matches no line above it: ";
  text.append("keys of one mapping must start in the same column; indent this line by ");
  for (std::size_t i = 0; i < levels.size(); ++i)
    text.append(i == 0 ? "" : (i + 1 == levels.size() ? " or " : ", ")).append(std::to_string(levels[i]));
  text.append(levels.size() == 1 && levels.front() == 1 ? " space" : " spaces");
  return YamlMistake{line, indent + 1, text};
}

Found misplaced_item(const std::vector<std::string_view>& lines, std::size_t line) {
  if (line > lines.size()) return std::nullopt;
  const std::string_view text = lines[line - 1];
  const std::size_t indent = indent_of(text);
  if (!text.substr(indent).starts_with("- ")) return std::nullopt;
  return YamlMistake{line, indent + 1,
                     "a list item is in the place of a key: write the key of the list on a line before it"};
}

}  // namespace

std::string with_blank_behind_colon(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == none || colon == 0 || colon + 1 == text.size()) return {};
  const std::string_view key = text.substr(0, colon);
  const std::string_view value = text.substr(colon + 1);
  // The colon belongs to a value, not to a key, in http://host, 127.0.0.1:80 and ::1.
  const bool is_key =
      std::all_of(key.begin(), key.end(), is_word_letter) && key.find_first_not_of("0123456789") != none;
  if (!is_key || value.front() == ' ' || value.front() == '/' || value.front() == ':') return {};
  return std::string(key) + ": " + std::string(value);
}

YamlMistake find_mistake(std::string_view text, std::size_t line, std::size_t column) {
  const std::vector<std::string_view> lines = lines_of(text);
  const std::size_t last = std::min(line, lines.size());
  const Scan until(lines, last);
  const Scan whole(lines, lines.size());
  if (last > 0) {
    if (Found found = bare_replacement(until, lines)) return *found;
    if (Found found = line == last ? odd_beginning(lines, line, column) : std::nullopt) return *found;
    if (Found found = unclosed(whole)) return *found;
    if (Found found = indentation(lines, line)) return *found;
    if (Found found = missing_blank(lines, line)) return *found;
    if (Found found = line == last ? two_keys(lines[line - 1], line) : std::nullopt) return *found;
    if (Found found = misplaced_item(lines, line)) return *found;
  }
  return {line, column,
          "this is not valid YAML: check here and on the line above for a missing space, quotation mark or "
          "bracket"};
}

}  // namespace reprise::config
