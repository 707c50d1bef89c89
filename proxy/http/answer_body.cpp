#include "proxy/http/answer_body.hpp"

#include "proxy/http/ascii.hpp"
#include "proxy/http/json_probe.hpp"
#include "proxy/policy/ascii.hpp"

namespace reprise::http {
namespace {

std::string_view media_type(std::string_view value) { return ascii::trim(value.substr(0, value.find(';'))); }

bool is_json(std::string_view type) {
  constexpr std::string_view suffix = "+json";
  if (ascii::same(type, "application/json")) return true;
  return type.size() > suffix.size() && ascii::same(type.substr(type.size() - suffix.size()), suffix);
}

}  // namespace

policy::BodyKind body_kind(const ResponseHead& head) {
  using policy::BodyKind;
  BodyKind kind = BodyKind::json;
  for (const FieldLine& field : head.fields) {
    if (field.id != FieldId::other) continue;
    if (ascii::same(field.name, "Content-Encoding") && !ascii::same(field.value, "identity"))
      return BodyKind::other;
    if (!ascii::same(field.name, "Content-Type")) continue;
    const std::string_view type = media_type(field.value);
    if (ascii::same(type, "text/event-stream")) {
      kind = BodyKind::event_stream;
    } else {
      kind = is_json(type) ? BodyKind::json : BodyKind::other;
    }
  }
  return kind;
}

bool JsonAnswer::has(std::string_view path, const std::optional<std::string>& equals) const {
  return JsonText(text_).has_at(path, equals);
}

bool EventAnswer::has(std::string_view path, const std::optional<std::string>& equals) const {
  return event_.complete() && JsonText(event_.data()).has_at(path, equals);
}

}  // namespace reprise::http
