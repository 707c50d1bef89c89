// Collects the field names that Connection lists, without common options such as `close`.
#include "proxy/http/message/hop_by_hop.hpp"

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

/// Returns true for common connection options. Other code removes or keeps the fields with these names.
bool is_ordinary(std::string_view option) {
  for (const std::string_view known : {"keep-alive", "close", "te", "upgrade", "proxy-connection"}) {
    if (ascii::same(option, known)) return true;
  }
  return false;
}

}  // namespace

// Returns true for fields that Connection must not remove, because later recipients need them (row J1,
// CVE-2026-26365).
bool NamedByConnection::is_end_to_end(std::string_view name) {
  for (const std::string_view prefix : {"content-", "if-", "x-forwarded-", "sec-websocket-"}) {
    if (ascii::starts_with(name, prefix)) return true;
  }
  for (const std::string_view known : {"host",          "transfer-encoding",
                                       "authorization", "www-authenticate",
                                       "cookie",        "set-cookie",
                                       "cache-control", "expires",
                                       "pragma",        "vary",
                                       "age",           "date",
                                       "etag",          "expect",
                                       "last-modified", "location",
                                       "max-forwards",  "origin",
                                       "range",         "referer",
                                       "retry-after",   "via",
                                       "forwarded",     "idempotency-key"}) {
    if (ascii::same(name, known)) return true;
  }
  return false;
}

NamedByConnection::NamedByConnection(const std::vector<FieldLine>& fields) {
  for (const FieldLine& field : fields) {
    if (field.id != FieldId::connection) continue;
    ascii::for_each_member(field.value, [this](std::string_view option) {
      if (!is_ordinary(option)) names_.add(option);
    });
  }
  names_.sort();
}

}  // namespace reprise::http
