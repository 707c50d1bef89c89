#include "proxy/http/message/connection_auth.hpp"

#include <algorithm>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

bool is_connection_scheme(std::string_view credentials) {
  const std::string_view scheme = credentials.substr(0, credentials.find(' '));
  return ascii::same(scheme, "NTLM") || ascii::same(scheme, "Negotiate");
}

}  // namespace

bool authenticates_connection(const RequestHead& head) {
  return std::any_of(head.fields.begin(), head.fields.end(), [](const FieldLine& field) {
    return field.id == FieldId::other && ascii::same(field.name, "Authorization") &&
           is_connection_scheme(field.value);
  });
}

bool authenticates_connection(const ResponseHead& head) {
  if (head.status != 401 && head.status != 407) return false;
  return std::any_of(head.fields.begin(), head.fields.end(), [](const FieldLine& field) {
    if (field.id != FieldId::proxy_authenticate && !ascii::same(field.name, "WWW-Authenticate")) return false;
    // One field may hold several challenges, separated by commas. The parameters of a challenge are list
    // members too, but they never equal the name of a scheme.
    bool found = false;
    ascii::for_each_member(
        field.value, [&found](std::string_view member) { found = found || is_connection_scheme(member); });
    return found;
  });
}

}  // namespace reprise::http
