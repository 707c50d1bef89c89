#include "proxy/telemetry/tracing/otlp_attributes.hpp"

#include <string>

namespace reprise::telemetry {

void OtlpAttributes::add(std::string_view key, std::string_view type, const json::value_ref& value) {
  // In place: a list of initializers would be copied.
  json::object& one = all_.emplace_back(json::object_kind).get_object();
  one.reserve(2);
  one.emplace("key", json::string_view(key));
  json::object& typed = one.emplace("value", json::object_kind).first->value().get_object();
  typed.reserve(1);
  typed.emplace(type, value);
}

void OtlpAttributes::text(std::string_view key, std::string_view value) {
  if (!value.empty()) add(key, "stringValue", value);
}

void OtlpAttributes::whole(std::string_view key, std::int64_t value) {
  add(key, "intValue", std::to_string(value));
}

}  // namespace reprise::telemetry
