#include "proxy/http/http2/request_fields.hpp"

#include "proxy/http/http2/field_lines.hpp"

namespace reprise::http {

void write_request_fields(std::string_view head, std::string_view scheme, FieldBlock& block,
                          std::string_view never_indexed) {
  begin_block(head, block);
  std::string_view line = take_until(head, "\r\n");
  const std::string_view method = take_until(line, " ");
  const std::string_view path = take_until(line, " ");
  std::string_view authority;
  block.fields = {{":method", method}, {":scheme", scheme}, {":authority", {}}, {":path", path}};
  append_lines(head, never_indexed, &authority, block);
  block.fields[2].value = authority;
}

void write_websocket_fields(std::string_view head, std::string_view scheme, FieldBlock& block,
                            std::string_view never_indexed) {
  write_request_fields(head, scheme, block, never_indexed);
  block.fields[0].value = "CONNECT";
  std::erase_if(block.fields, [](const Field& field) { return field.name == "sec-websocket-key"; });
  block.fields.insert(block.fields.begin() + 1, {":protocol", "websocket"});
}

}  // namespace reprise::http
