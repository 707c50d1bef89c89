// Heads: the guard's reading, then Beast's; and what is asked of a head that both have passed.
#include "proxy/http/head.hpp"

#include <algorithm>

#include "proxy/http/ascii.hpp"
#include "proxy/http/beast_check.hpp"
#include "proxy/http/guard.hpp"

namespace reprise::http {
namespace {

const FieldLine* find_field(const std::vector<FieldLine>& fields, FieldId id) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [id](const FieldLine& field) { return field.id == id; });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace

void RequestHead::forget() {
  method = target = {};
  fields.clear();
}

void ResponseHead::forget() {
  reason = {};
  fields.clear();
}

const FieldLine* RequestHead::find(FieldId id) const { return find_field(fields, id); }
const FieldLine* ResponseHead::find(FieldId id) const { return find_field(fields, id); }

bool RequestHead::has(std::string_view name, std::string_view value) const {
  return std::any_of(fields.begin(), fields.end(), [&](const FieldLine& field) {
    return ascii::same(field.name, name) && (value.empty() ? !field.value.empty() : field.value == value);
  });
}

bool RequestHead::keep_alive() const { return minor_version == 1 && !close; }

bool RequestHead::expects_continue() const {
  if (minor_version == 0) return false;
  const bool has_body = framing.kind == Framing::Kind::chunked || framing.length > 0;
  const FieldLine* const expect = find(FieldId::expect);
  return has_body && expect != nullptr && ascii::same(expect->value, "100-continue");
}

Parsed parse_request(std::string_view buffer, const HeadLimits& limits, RequestHead& head) {
  const Parsed parsed = guard_request(buffer, limits, head);
  if (parsed != Parsed{Progress::complete}) return parsed;
  if (const auto disagreement = second_opinion(buffer, head)) return *disagreement;
  return parsed;
}

Parsed parse_response(std::string_view buffer, const HeadLimits& limits, std::string_view request_method,
                      ResponseHead& head) {
  Oddities oddities;
  const Parsed parsed = guard_response(buffer, limits, request_method, head, oddities);
  if (parsed != Parsed{Progress::complete}) return parsed;
  if (const auto disagreement = second_opinion(head, buffer, request_method, oddities)) return *disagreement;
  return parsed;
}

}  // namespace reprise::http
