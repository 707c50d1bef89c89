#include "proxy/http/http2/response_fields.hpp"

#include <cassert>

#include "proxy/http/http2/field_lines.hpp"

namespace reprise::http {

void write_response_fields(std::string_view head, FieldBlock& block) {
  constexpr std::size_t status_digits = 3;
  begin_block(head, block);
  std::string_view line = take_until(head, "\r\n");
  take_until(line, " ");
  const std::string_view status = line.substr(0, status_digits);
  assert(status.size() == status_digits && status != "101");
  block.fields.push_back({":status", status});
  append_lines(head, {}, nullptr, block);
}

}  // namespace reprise::http
