#include "proxy/http/http1/fields.hpp"

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

// identify_known switches on the length of the name, so that at most two comparisons are left.

FieldId if_same(std::string_view name, std::string_view known, FieldId id) {
  return ascii::same(name, known) ? id : FieldId::other;
}

FieldId either(std::string_view name, std::string_view one, FieldId one_id, std::string_view two,
               FieldId two_id) {
  return ascii::same(name, one) ? one_id : if_same(name, two, two_id);
}

FieldId identify_known(std::string_view name) {
  switch (name.size()) {
    case 2: return if_same(name, "te", FieldId::te);
    case 3: return if_same(name, "via", FieldId::via);
    case 4: return either(name, "host", FieldId::host, "date", FieldId::date);
    case 6: return if_same(name, "expect", FieldId::expect);
    case 7: return either(name, "upgrade", FieldId::upgrade, "trailer", FieldId::trailer);
    case 10: return either(name, "connection", FieldId::connection, "keep-alive", FieldId::keep_alive);
    case 11: return if_same(name, "retry-after", FieldId::retry_after);
    case 12:
      return either(name, "max-forwards", FieldId::max_forwards, "proxy-status", FieldId::proxy_status);
    case 14: return if_same(name, "content-length", FieldId::content_length);
    case 16: return if_same(name, "proxy-connection", FieldId::proxy_connection);
    case 17: return if_same(name, "transfer-encoding", FieldId::transfer_encoding);
    case 18: return if_same(name, "proxy-authenticate", FieldId::proxy_authenticate);
    case 19: return if_same(name, "proxy-authorization", FieldId::proxy_authorization);
    default: return FieldId::other;
  }
}

}  // namespace

FieldId identify_field(std::string_view name) {
  if (ascii::lower(name.front()) == 'r' && ascii::starts_with(name, "reprise-")) return FieldId::reprise;
  return identify_known(name);
}

}  // namespace reprise::http
