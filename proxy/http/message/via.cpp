#include "proxy/http/message/via.hpp"

#include <algorithm>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

constexpr std::string_view pseudonym_prefix = "reprise-";

/// Calls `visit` with the received-by part of each member of a Via value. Commas inside a comment do not
/// separate members (RFC 9110 7.6.3).
template <class Visit>
void for_each_received_by(std::string_view value, Visit visit) {
  unsigned depth = 0;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= value.size(); ++i) {
    const char c = i == value.size() ? ',' : value[i];
    if (depth > 0 && c == '\\') {
      ++i;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && depth > 0) {
      --depth;
    } else if (c == ',' && (depth == 0 || i >= value.size())) {
      std::string_view member = ascii::trim(value.substr(first, i - first));
      first = i + 1;
      const std::size_t blank = member.find_first_of(" \t");
      if (blank == std::string_view::npos) continue;
      member = ascii::trim(member.substr(blank));
      visit(member.substr(0, member.find_first_of(" \t(")));
    }
  }
}

}  // namespace

bool has_looped(const RequestHead& head, std::string_view pseudonym) {
  bool looped = false;
  for (const FieldLine& field : head.fields) {
    if (field.id != FieldId::via) continue;
    for_each_received_by(field.value, [&](std::string_view received_by) {
      looped = looped || ascii::same(received_by, pseudonym);
    });
  }
  return looped;
}

bool names_reprise(const FieldLine& field) {
  bool named = false;
  const auto look = [&named](std::string_view name) {
    named = named || ascii::starts_with(name, pseudonym_prefix);
  };
  if (field.id == FieldId::via) {
    for_each_received_by(field.value, look);
  } else if (field.id == FieldId::proxy_status) {
    ascii::for_each_member(field.value, look);
  }
  return named;
}

}  // namespace reprise::http
