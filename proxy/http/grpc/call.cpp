#include "proxy/http/grpc/call.hpp"

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {

bool is_grpc_call(const RequestHead& head) {
  constexpr std::string_view type = "application/grpc";
  if (!head.over_http2 || head.method != "POST") return false;
  for (const FieldLine& field : head.fields) {
    if (field.id != FieldId::other || !ascii::same(field.name, "content-type")) continue;
    if (!ascii::starts_with(field.value, type)) return false;
    return field.value.size() == type.size() || field.value[type.size()] == '+' ||
           field.value[type.size()] == ';';
  }
  return false;
}

}  // namespace reprise::http
