#include "proxy/http/http2/field_lines.hpp"

#include <cassert>

#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/hop_by_hop.hpp"
#include "proxy/http/message/token_set.hpp"

namespace reprise::http {
namespace {

constexpr std::size_t guessable_cookie_bytes = 20;

// Appends the name in lower case. The storage was reserved, so that views of earlier names stay valid.
std::string_view lower_name(std::string_view name, std::string& names) {
  assert(names.size() + name.size() <= names.capacity());
  const std::size_t begin = names.size();
  for (const char byte : name) names.push_back(ascii::lower(byte));
  return std::string_view(names).substr(begin);
}

bool is_sensitive(std::string_view name, std::string_view value) {
  const bool is_cookie = name == "cookie" || name == "set-cookie";
  return name == "authorization" || (is_cookie && value.size() < guessable_cookie_bytes);
}

void mark_sensitive(std::string_view names, FieldBlock& block) {
  if (names.empty()) return;
  TokenSet listed;
  ascii::for_each_member(names, [&listed](std::string_view name) { listed.add(name); });
  listed.sort();
  for (Field& field : block.fields) field.sensitive = field.sensitive || listed.has(field.name);
}

}  // namespace

std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t place = text.find(end);
  assert(place != std::string_view::npos);
  const std::string_view taken = text.substr(0, place);
  text.remove_prefix(place + end.size());
  return taken;
}

void begin_block(std::string_view text, FieldBlock& block) {
  block.fields.clear();
  block.names.clear();
  block.names.reserve(text.size());
}

void append_lines(std::string_view lines, std::string_view never_indexed, std::string_view* authority,
                  FieldBlock& block) {
  std::vector<FieldLine> connections;
  while (!lines.empty()) {
    std::string_view line = take_until(lines, "\r\n");
    if (line.empty()) continue;
    const std::string_view name = lower_name(take_until(line, ":"), block.names);
    const std::string_view value = ascii::trim(line);
    if (name == "connection") connections.push_back({name, value, {}, FieldId::connection});
    if (is_connection_field(name) || name == "http2-settings") continue;
    if (name == "te") {
      if (ascii::lists(value, "trailers")) block.fields.push_back({name, "trailers"});
    } else if (name == "host" && authority != nullptr) {
      *authority = value;
    } else {
      block.fields.push_back({name, value, is_sensitive(name, value)});
    }
  }
  if (!connections.empty()) {
    const NamedByConnection named(connections);
    std::erase_if(block.fields, [&named](const Field& field) { return named.removes(field.name); });
  }
  mark_sensitive(never_indexed, block);
}

void write_trailer_fields(std::string_view lines, FieldBlock& block) {
  begin_block(lines, block);
  append_lines(lines, {}, nullptr, block);
}

}  // namespace reprise::http
