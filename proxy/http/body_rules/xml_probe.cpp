#include "proxy/http/body_rules/xml_probe.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace reprise::http {
namespace {

constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";
constexpr std::string_view blanks = " \t\r\n";
constexpr std::size_t most_depth = 64;

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string_view without_prefix(std::string_view name) {
  return name.substr(name.rfind(':') + 1);  // if there is no colon, npos + 1 is 0
}

/// Reads the text from the start to the end of the first element at the path.
class Walk {
 public:
  Walk(std::string_view text, std::string_view path) : left_(text) {
    if (left_.starts_with(utf8_mark)) left_.remove_prefix(utf8_mark.size());
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
      path_.push_back(path.substr(0, dot));
      path.remove_prefix(dot + 1);
    }
    path_.push_back(path);
  }

  /// Returns the text of the element. Returns nothing if there is no such element, or if malformed markup
  /// comes before the end of the element.
  std::optional<std::string> find() {
    while (!found_) {
      const std::size_t end = left_.find('<');
      if (end == std::string_view::npos || !take_text(left_.substr(0, end))) return std::nullopt;
      left_.remove_prefix(end);
      if (!take_markup()) return std::nullopt;
    }
    return value_;
  }

 private:
  bool take_text(std::string_view text) {
    if (inside_) value_.append(text);
    return !open_.empty() || trim(text).empty();
  }

  // Reads one tag, comment or other markup. Returns false if it is malformed.
  bool take_markup() {
    std::string_view content;
    if (take("<!--", "-->", content) || take("<?", "?>", content)) return true;
    if (take("<![CDATA[", "]]>", content)) return !open_.empty() && take_text(content);
    if (left_.starts_with("</")) return end_tag();
    // Rejects document types, and comments and other markup that have no end.
    if (left_.starts_with("<!") || left_.starts_with("<?")) return false;
    return start_tag();
  }

  bool take(std::string_view opening, std::string_view closing, std::string_view& content) {
    if (!left_.starts_with(opening)) return false;
    const std::size_t end = left_.find(closing, opening.size());
    if (end == std::string_view::npos) return false;
    content = left_.substr(opening.size(), end - opening.size());
    left_.remove_prefix(end + closing.size());
    return true;
  }

  bool end_tag() {
    const std::size_t end = left_.find('>');
    if (end == std::string_view::npos || open_.empty()) return false;
    if (trim(left_.substr(2, end - 2)) != open_.back()) return false;
    left_.remove_prefix(end + 1);
    close();
    return true;
  }

  bool start_tag() {
    const std::size_t end = end_of_tag();
    if (end == std::string_view::npos) return false;
    const std::string_view tag = left_.substr(1, end - 1);
    const bool empty = tag.ends_with('/');
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
    const bool second_root = open_.empty() && begun_;
    if (name.empty() || inside_ || second_root || open_.size() == most_depth) return false;
    begun_ = true;
    open_.push_back(name);
    inside_ = is_at_path();
    left_.remove_prefix(end + 1);
    if (empty) close();
    return true;
  }

  // Returns the position of the `>` that ends the tag. A `>` in an attribute value does not end the tag.
  // Returns npos if a `<` comes first.
  std::size_t end_of_tag() const {
    char quote = 0;
    for (std::size_t i = 1; i < left_.size(); ++i) {
      const char c = left_[i];
      if (c == '<') break;
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else if (c == '>') {
        return i;
      }
    }
    return std::string_view::npos;
  }

  void close() {
    open_.pop_back();
    found_ = inside_;
  }

  bool is_at_path() const {
    if (open_.size() < path_.size()) return false;
    return std::equal(
        path_.rbegin(), path_.rend(), open_.rbegin(),
        [](std::string_view wanted, std::string_view name) { return wanted == without_prefix(name); });
  }

  std::string_view left_;
  std::vector<std::string_view> path_;
  std::vector<std::string_view> open_;
  std::string value_;
  bool begun_ = false;
  bool inside_ = false;  // true if the innermost open element is at the path
  bool found_ = false;
};

}  // namespace

bool XmlText::has_at(std::string_view path, const policy::TextRule& rule) const {
  const std::optional<std::string> text = Walk(text_, path).find();
  const std::string_view trimmed = text ? trim(*text) : std::string_view();
  return !trimmed.empty() && rule.holds(trimmed);
}

}  // namespace reprise::http
