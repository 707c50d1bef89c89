#include "proxy/http/http2/request_fields.hpp"

#include <cassert>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

constexpr std::size_t guessable_cookie_bytes = 20;

std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t place = text.find(end);
  assert(place != std::string_view::npos);
  const std::string_view taken = text.substr(0, place);
  text.remove_prefix(place + end.size());
  return taken;
}

// Appends the name in lower case. The storage was reserved, so that views of earlier names stay valid.
std::string_view lower_name(std::string_view name, std::string& names) {
  assert(names.size() + name.size() <= names.capacity());
  const std::size_t begin = names.size();
  for (const char byte : name) names.push_back(ascii::lower(byte));
  return std::string_view(names).substr(begin);
}

bool is_sensitive(std::string_view name, std::string_view value) {
  return name == "authorization" || (name == "cookie" && value.size() < guessable_cookie_bytes);
}

void begin(std::string_view text, FieldBlock& block) {
  block.fields.clear();
  block.names.clear();
  block.names.reserve(text.size());
}

// Appends the fields of the lines. Stores the value of Host in `authority` unless `authority` is null.
void append_fields(std::string_view lines, std::string_view* authority, FieldBlock& block) {
  while (!lines.empty()) {
    std::string_view line = take_until(lines, "\r\n");
    if (line.empty()) continue;
    const std::string_view name = lower_name(take_until(line, ":"), block.names);
    const std::string_view value = ascii::trim(line);
    if (is_connection_field(name) || name == "http2-settings") continue;
    if (name == "te") {
      if (ascii::lists(value, "trailers")) block.fields.push_back({name, "trailers"});
    } else if (name == "host" && authority != nullptr) {
      *authority = value;
    } else {
      block.fields.push_back({name, value, is_sensitive(name, value)});
    }
  }
}

}  // namespace

void write_request_fields(std::string_view head, std::string_view scheme, FieldBlock& block) {
  begin(head, block);
  std::string_view line = take_until(head, "\r\n");
  const std::string_view method = take_until(line, " ");
  const std::string_view path = take_until(line, " ");
  std::string_view authority;
  block.fields = {{":method", method}, {":scheme", scheme}, {":authority", {}}, {":path", path}};
  append_fields(head, &authority, block);
  block.fields[2].value = authority;
}

void write_trailer_fields(std::string_view lines, FieldBlock& block) {
  begin(lines, block);
  append_fields(lines, nullptr, block);
}

}  // namespace reprise::http
