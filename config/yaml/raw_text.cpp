#include "config/yaml/raw_text.hpp"

#include <algorithm>

#include "config/yaml/document.hpp"

namespace reprise::config {
namespace {

// Returns the length of the UTF-8 sequence at the front of the text (RFC 3629: shortest form, no surrogates,
// up to U+10FFFF). Returns 0 if the sequence is invalid.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0U) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (!tail(1) || !tail(2)) return 0;
    if (first == 0xe0 && byte(1) < 0xa0) return 0;
    return first == 0xed && byte(1) > 0x9f ? 0 : 3;
  }
  if (first < 0xf0 || first > 0xf4 || !tail(1) || !tail(2) || !tail(3)) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  return first == 0xf4 && byte(1) > 0x8f ? 0 : 4;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

bool is_unprintable(char c) { return is_control(c) && c != '\n' && c != '\t'; }

class Cleaner {
 public:
  Cleaner(std::string_view bytes, Report& report) : left_(bytes), report_(report) {
    clean_.text.reserve(bytes.size());
  }

  std::optional<CleanText> run() {
    while (!left_.empty()) {
      if (left_.starts_with("\r\n")) left_.remove_prefix(1);
      const std::size_t length = sequence_length(left_);
      if (length == 0) return refuse("this is not UTF-8 text");
      if (is_unprintable(left_.front())) return refuse("a control character is not allowed");
      take(length);
    }
    return std::move(clean_);
  }

 private:
  std::nullopt_t refuse(const char* message) {
    report_.error(line_, column_, {}, message);
    return std::nullopt;
  }

  void take(std::size_t length) {
    const char c = left_.front();
    if (c == '\t') {
      clean_.had_tabs = true;
      if (line_ != tab_line_) report_.error(line_, column_, {}, "tabs are not allowed: use spaces");
      tab_line_ = line_;
      clean_.text.push_back(' ');
    } else {
      clean_.text.append(left_.substr(0, length));
    }
    left_.remove_prefix(length);
    column_ = c == '\n' ? 1 : column_ + length;
    if (c == '\n') ++line_;
  }

  std::string_view left_;
  Report& report_;
  CleanText clean_;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
  std::size_t tab_line_ = 0;
};

}  // namespace

std::optional<CleanText> clean_text(std::string_view bytes, Report& report) {
  if (bytes.size() > largest_file) {
    report.error(0, 0, {}, "the file is larger than " + std::to_string(largest_file / 1024 / 1024) + " MiB");
    return std::nullopt;
  }
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
  return Cleaner(bytes, report).run();
}

bool has_control(std::string_view text) { return std::any_of(text.begin(), text.end(), is_control); }

}  // namespace reprise::config
