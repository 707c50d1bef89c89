#include "proxy/http/grpc/call.hpp"

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {

bool is_grpc_type(std::string_view content_type) {
  constexpr std::string_view type = "application/grpc";
  if (!ascii::starts_with(content_type, type)) return false;
  return content_type.size() == type.size() || content_type[type.size()] == '+' ||
         content_type[type.size()] == ';';
}

bool is_grpc_call(const RequestHead& head) {
  if (!head.over_http2 || head.method != "POST") return false;
  for (const FieldLine& field : head.fields) {
    if (field.id == FieldId::other && ascii::same(field.name, "content-type"))
      return is_grpc_type(field.value);
  }
  return false;
}

}  // namespace reprise::http
