#include "proxy/http/body_rules/response_body_probe.hpp"

#include <algorithm>

#include "proxy/http/body_rules/json_probe.hpp"
#include "proxy/http/body_rules/xml_probe.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/policy/match/ascii.hpp"

namespace reprise::http {
namespace {

std::string_view media_type(std::string_view value) { return ascii::trim(value.substr(0, value.find(';'))); }

bool has_suffix(std::string_view type, std::string_view suffix) {
  return type.size() > suffix.size() && ascii::same(type.substr(type.size() - suffix.size()), suffix);
}

// Returns true for all JSON types, including application/x-amz-json-1.0 and -1.1 (DynamoDB, Kinesis and
// others).
bool is_json(std::string_view type) {
  return ascii::same(type, "application/json") || ascii::starts_with(type, "application/x-amz-json-") ||
         has_suffix(type, "+json");
}

bool is_xml(std::string_view type) {
  return ascii::same(type, "application/xml") || ascii::same(type, "text/xml") || has_suffix(type, "+xml");
}

policy::BodyKind kind_of(std::string_view type) {
  using policy::BodyKind;
  if (ascii::same(type, "text/event-stream")) return BodyKind::event_stream;
  if (is_json(type)) return BodyKind::json;
  return is_xml(type) ? BodyKind::xml : BodyKind::other;
}

}  // namespace

policy::BodyKind body_kind(const ResponseHead& head) {
  using policy::BodyKind;
  BodyKind kind = BodyKind::untyped;
  for (const FieldLine& field : head.fields) {
    if (field.id != FieldId::other) continue;
    if (ascii::same(field.name, "Content-Encoding") && !ascii::same(field.value, "identity"))
      return BodyKind::other;
    if (ascii::same(field.name, "Content-Type")) kind = kind_of(media_type(field.value));
  }
  return kind;
}

bool ResponseFields::has(std::string_view name, const policy::TextRule& rule) const {
  return std::any_of(head_.fields.begin(), head_.fields.end(), [&](const FieldLine& field) {
    return ascii::same(field.name, name) && rule.holds(field.value);
  });
}

bool WholeResponse::has_json(std::string_view path, const policy::TextRule& rule) const {
  using policy::BodyKind;
  return (kind_ == BodyKind::json || kind_ == BodyKind::untyped) && JsonText(text_).has_at(path, rule);
}

bool WholeResponse::has_xml(std::string_view path, const policy::TextRule& rule) const {
  using policy::BodyKind;
  return (kind_ == BodyKind::xml || kind_ == BodyKind::untyped) && XmlText(text_).has_at(path, rule);
}

bool EventResponse::has_json(std::string_view path, const policy::TextRule& rule) const {
  return event_.complete() && JsonText(event_.data()).has_at(path, rule);
}

}  // namespace reprise::http
