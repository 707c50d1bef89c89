// Counts and judges the members of Transfer-Encoding.
#include "proxy/http/http1/codings.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/message/ascii.hpp"

namespace reprise::http {
namespace {

struct KnownCoding {
  std::string_view name;
  std::string_view sentence;
};
constexpr std::array<KnownCoding, 5> known_codings{
    {{"gzip", "the transfer coding gzip is not supported"},
     {"x-gzip", "the transfer coding x-gzip is not supported"},
     {"deflate", "the transfer coding deflate is not supported"},
     {"compress", "the transfer coding compress is not supported"},
     {"x-compress", "the transfer coding x-compress is not supported"}}};

bool is_known_coding(std::string_view coding) {
  return std::any_of(known_codings.begin(), known_codings.end(),
                     [&](const KnownCoding& known) { return ascii::same(coding, known.name); });
}

/// Returns the cause for rejecting a Transfer-Encoding that is not `chunked`.
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

std::string_view sentence_about(std::string_view coding) {
  for (const KnownCoding& known : known_codings) {
    if (ascii::same(coding, known.name)) return known.sentence;
  }
  return "only the transfer coding chunked is supported";
}

}  // namespace

std::string_view unsupported_coding(std::span<const FieldLine> fields) {
  std::string_view found;
  bool chunked = false;
  for (const FieldLine& field : fields) {
    if (field.id != FieldId::transfer_encoding) continue;
    ascii::for_each_member(field.value, [&](std::string_view member) {
      const bool is_chunked = ascii::same(member, "chunked");
      if (found.empty() && !is_chunked && !ascii::same(member, "identity")) found = sentence_about(member);
      if (found.empty() && is_chunked && chunked) found = "the transfer coding chunked occurs twice";
      chunked = chunked || is_chunked;
    });
  }
  return found;
}

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
