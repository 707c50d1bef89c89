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

std::optional<CallPath> call_path(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const CallPath call{path.substr(0, slash), path.substr(slash + 1)};
  const bool has_two_names =
      !call.service.empty() && !call.method.empty() && call.method.find('/') == std::string_view::npos;
  return has_two_names ? std::optional(call) : std::nullopt;
}

}  // namespace reprise::http
