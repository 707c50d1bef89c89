#include "proxy/cli/line/roff.hpp"

#include <algorithm>
#include <vector>

namespace reprise::cli {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// Removes the link `[text](target)` from the start of `rest` and returns its text. Returns an empty text if
// there is no link.
std::string_view take_link(std::string_view& rest) {
  const std::size_t middle = rest.find("](");
  if (!rest.starts_with('[') || middle == std::string_view::npos) return {};
  const std::size_t end = rest.find(')', middle);
  if (end == std::string_view::npos || rest.find(']') != middle) return {};
  const std::string_view text = rest.substr(1, middle - 1);
  rest.remove_prefix(end + 1);
  return text;
}

void append_plain(std::string& out, char c) {
  if (out.empty() && (c == '.' || c == '\'')) out += "\\&";
  if (c == '\\') {
    out += "\\e";
  } else if (c == '-') {
    out += "\\-";
  } else {
    out += c;
  }
}

// Converts one line of Markdown to roff. Code and bold text become bold. A link becomes its text.
std::string inline_roff(std::string_view text) {
  std::string out;
  bool code = false;
  bool bold = false;
  const auto toggle = [&out](bool& is_on) {
    is_on = !is_on;
    // The empty escape `\&` comes first on a line. Without it, roff could read the text after the font change
    // as a request.
    out += out.empty() ? "\\&" : "";
    out += is_on ? "\\fB" : "\\fR";
  };
  while (!text.empty()) {
    if (text.front() == '`') {
      toggle(code);
      text.remove_prefix(1);
    } else if (!code && text.starts_with("**")) {
      toggle(bold);
      text.remove_prefix(2);
    } else if (const auto link = code ? std::string_view() : take_link(text); !link.empty()) {
      out += inline_roff(link);
    } else {
      append_plain(out, text.front());
      text.remove_prefix(1);
    }
  }
  return out;
}

// Returns the cells of a table row such as `| a | b |`. A bar inside code is written `\|`.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  line = trimmed(line).substr(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      cells.emplace_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

/// Converts a Markdown page to roff, line by line. An empty line, a heading, a list item or a table row ends
/// the paragraph before it.
class Page {
 public:
  void line(std::string_view line) {
    if (line.starts_with("|")) return row(line);
    heads_.clear();
    if (line.empty()) return end_paragraph();
    if (line.starts_with("#")) return heading(line);
    if (line.starts_with("- ")) {
      end_paragraph();
      is_item_ = true;
      line.remove_prefix(2);
    }
    paragraph_.append(paragraph_.empty() ? "" : " ").append(trimmed(line));
  }
  std::string end() {
    end_paragraph();
    return std::move(out_);
  }

 private:
  void end_paragraph() {
    if (!paragraph_.empty())
      out_.append(is_item_ ? ".IP \\(bu 2\n" : ".PP\n").append(inline_roff(paragraph_)).append("\n");
    paragraph_.clear();
    is_item_ = false;
  }

  // Converts a heading. Omits the title of the Markdown page, because the manual page has its own title.
  void heading(std::string_view line) {
    end_paragraph();
    const std::size_t level = line.find_first_not_of('#');
    if (level < 2) return;
    out_.append(level == 2 ? ".SH " : ".SS ").append(inline_roff(trimmed(line.substr(level)))).append("\n");
  }

  // Converts a table row to a tagged paragraph. The tag is the first cell. The text starts with the cell in
  // the column `meaning`. Each remaining cell follows, preceded by the name of its column.
  void row(std::string_view line) {
    end_paragraph();
    std::vector<std::string> cells = cells_of(line);
    if (heads_.empty()) {
      heads_ = std::move(cells);
      return;
    }
    if (cells.empty() || cells.front().starts_with("---")) return;
    out_.append(".TP\n").append(inline_roff(cells.front())).append("\n");
    std::string text;
    const auto is_meaning = [&](std::size_t i) {
      return i < heads_.size() && (heads_[i] == "meaning" || heads_.size() == 2);
    };
    for (std::size_t i = 1; i < cells.size(); ++i)
      if (is_meaning(i)) text.append(cells[i]);
    for (std::size_t i = 1; i < cells.size() && i < heads_.size(); ++i) {
      if (is_meaning(i) || cells[i].empty()) continue;
      text.append(text.empty() ? "" : text.ends_with('.') ? " " : ". ");
      const std::size_t name = text.size();
      text.append(heads_[i]).append(": ").append(cells[i]).append(".");
      if (text[name] >= 'a' && text[name] <= 'z') text[name] = static_cast<char>(text[name] - 'a' + 'A');
    }
    out_.append(text.empty() ? "\\&" : inline_roff(text)).append("\n");
  }

  std::string out_;
  std::string paragraph_;
  bool is_item_ = false;
  std::vector<std::string> heads_;  ///< headings of the current table; empty outside of a table
};

}  // namespace

std::string roff(std::string_view text) {
  std::string made;
  for (const char c : text) append_plain(made, c);
  return made;
}

std::string roff_of_markdown(std::string_view page) {
  Page made;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size());
    made.line(page.substr(0, end));
    page.remove_prefix(std::min(end + 1, page.size()));
  }
  return made.end();
}

}  // namespace reprise::cli
