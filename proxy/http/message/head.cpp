// Finds fields in message heads, and tests properties of the heads.
#include "proxy/http/message/head.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

const FieldLine* find_field(const std::vector<FieldLine>& fields, FieldId id) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [id](const FieldLine& field) { return field.id == id; });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace

void RequestHead::reset() {
  std::vector<FieldLine> storage = std::move(fields);
  storage.clear();
  *this = RequestHead();
  fields = std::move(storage);
}

void ResponseHead::reset() {
  static_assert(std::is_trivially_copyable_v<ResponseLine>);
  static_cast<ResponseLine&>(*this) = {};
  fields.clear();
  if (clean.capacity() > 0) std::vector<char>().swap(clean);
}

const FieldLine* RequestHead::find(FieldId id) const { return find_field(fields, id); }
const FieldLine* RequestHead::find(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const FieldLine& field) { return ascii::same(field.name, name); });
  return found == fields.end() ? nullptr : &*found;
}
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

}  // namespace reprise::http
