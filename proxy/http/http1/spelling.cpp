// Rewrites the heads of old upstreams in clean form, line by line.
#include "proxy/http/http1/spelling.hpp"

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

constexpr std::string_view line_end = "\r\n";

void append(std::string_view text, std::vector<char>& out) {
  out.insert(out.end(), text.begin(), text.end());
}

void drop_blanks_at_end(std::vector<char>& out) {
  while (ascii::is_blank(out.back())) out.pop_back();
}

}  // namespace

void write_clean_head(std::string_view head, std::vector<char>& out) {
  constexpr std::size_t minor_version = std::string_view("HTTP/1.").size();
  for (bool first = true; !head.empty(); first = false) {
    const std::size_t feed = head.find('\n');
    std::string_view line = head.substr(0, feed);
    head.remove_prefix(feed + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && ascii::is_blank(line.front())) {
      drop_blanks_at_end(out);
      line = ascii::trim(line);
      if (!line.empty()) out.push_back(' ');
    } else if (!first) {
      append(line_end, out);
    }
    append(line, out);
  }
  append(line_end, out);
  if (out[minor_version] > '1') out[minor_version] = '1';
}

}  // namespace reprise::http
