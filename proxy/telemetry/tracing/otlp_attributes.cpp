#include "proxy/telemetry/tracing/otlp_attributes.hpp"

#include "proxy/telemetry/log/json_text.hpp"
#include "proxy/telemetry/log/line_parts.hpp"

namespace reprise::telemetry {

OtlpAttributes::OtlpAttributes(std::string& out) : out_(out) { out_ += "\"attributes\":["; }

void OtlpAttributes::name(std::string_view key, std::string_view type) {
  if (!first_) out_ += ',';
  first_ = false;
  out_.append("{\"key\":\"").append(key).append("\",\"value\":{\"").append(type).append("\":");
}

void OtlpAttributes::text(std::string_view key, std::string_view value) {
  if (value.empty()) return;
  name(key, "stringValue");
  append_json(out_, value);
  out_ += "}}";
}

void OtlpAttributes::whole(std::string_view key, std::int64_t value) {
  name(key, "intValue");
  out_ += '"';
  append_number(out_, value);
  out_ += "\"}}";
}

void OtlpAttributes::flag(std::string_view key, bool value) {
  name(key, "boolValue");
  out_.append(value ? "true" : "false").append("}}");
}

void OtlpAttributes::milliseconds(std::string_view key, policy::Duration value) {
  name(key, "doubleValue");
  append_milliseconds(out_, value);
  out_ += "}}";
}

void OtlpAttributes::close() { out_ += ']'; }

}  // namespace reprise::telemetry
