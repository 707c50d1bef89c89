// Connection's list, sorted so that thousands of members cost no more than their own reading.
#include "proxy/http/hop_by_hop.hpp"

#include <algorithm>

#include "proxy/http/ascii.hpp"

namespace reprise::http {
namespace {

bool is_before(std::string_view a, std::string_view b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](char x, char y) { return ascii::lower(x) < ascii::lower(y); });
}

/// Options of every day; the fields of these names are removed or kept by their own rules.
bool is_ordinary(std::string_view option) {
  for (const std::string_view known : {"keep-alive", "close", "te", "upgrade", "proxy-connection"}) {
    if (ascii::same(option, known)) return true;
  }
  return false;
}

/// Fields that a sender cannot take away from those behind us by naming them (row J1, CVE-2026-26365).
bool is_end_to_end(std::string_view name) {
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

}  // namespace

NamedByConnection::NamedByConnection(const std::vector<FieldLine>& fields) {
  for (const FieldLine& field : fields) {
    if (field.id != FieldId::connection) continue;
    ascii::for_each_member(field.value, [this](std::string_view option) {
      if (!is_ordinary(option)) names_.push_back(option);
    });
  }
  std::sort(names_.begin(), names_.end(), is_before);
}

bool NamedByConnection::removes(std::string_view name) const {
  return !names_.empty() && std::binary_search(names_.begin(), names_.end(), name, is_before) &&
         !is_end_to_end(name);
}

}  // namespace reprise::http
