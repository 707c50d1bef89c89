// Members of Transfer-Encoding, counted and judged.
#include "proxy/http1/codings.hpp"

#include "proxy/http/ascii.hpp"

namespace reprise::http {
namespace {

bool is_known_coding(std::string_view coding) {
  for (const std::string_view known : {"gzip", "x-gzip", "deflate", "compress", "x-compress"}) {
    if (ascii::same(coding, known)) return true;
  }
  return false;
}

/// Why a Transfer-Encoding that is not `chunked` is refused.
Rejection judge_coding(std::string_view value) {
  bool known = true;
  bool any = false;
  std::string_view last;
  ascii::for_each_member(value, [&](std::string_view member) {
    if (any) known = known && is_known_coding(last);
    last = member;
    any = true;
  });
  const bool well_formed = any && value.front() != ',' && value.back() != ',';
  return well_formed && known && (is_known_coding(last) || ascii::same(last, "chunked"))
             ? Rejection::unsupported_transfer_encoding
             : Rejection::bad_transfer_encoding;
}

}  // namespace

void Codings::add_but_identity(std::string_view value) {
  unsigned others = 0;
  std::string_view other;
  bool identity_here = false;
  for (std::string_view rest = value;;) {
    const std::size_t comma = rest.find(',');
    const std::string_view member = ascii::trim(rest.substr(0, comma));
    if (ascii::same(member, "identity")) {
      identity_here = true;
    } else {
      ++others;
      other = member;
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (!identity_here) return add(value);
  identity = true;
  count += others;
  if (others > 0) last = other;
}

std::optional<Rejection> Codings::judge() const {
  if (count > 1) return Rejection::bad_transfer_encoding;
  return ascii::same(last, "chunked") ? std::nullopt : std::optional(judge_coding(last));
}

}  // namespace reprise::http
