// Reads the lifetime of signed requests, from the query or else from the header fields, and finds out what
// the signature covers.
#include "proxy/http/retry_hints/signature.hpp"

#include <algorithm>

#include "proxy/http/message/ascii.hpp"
#include "proxy/http/retry_hints/date.hpp"
#include "proxy/policy/match/query.hpp"

namespace reprise::http {
namespace {

constexpr std::int64_t clock_skew = 300;         // clock skew that AWS services allow in both directions
constexpr std::uint64_t longest_life = 604'800;  // a week: the longest validity AWS and Cloud Storage accept
constexpr std::uint64_t last_unix_second = 253'402'300'799;  // end of the year 9999

/// The parameters of a query that belong to a signature; null views if absent. Their values need no
/// percent-decoding.
struct SigningParameters {
  std::string_view amz_date, amz_expires, amz_signature;
  std::string_view goog_date, goog_expires, goog_signature;
  std::string_view access_id, expires, signature;

  explicit SigningParameters(std::string_view query) {
    policy::any_parameter(query, [this](const policy::Parameter& given) {
      if (std::string_view* const slot = given.has_value ? find(given.name) : nullptr) *slot = given.value;
      return false;
    });
  }

 private:
  std::string_view* find(std::string_view name) {
    if (ascii::starts_with(name, "X-Amz-")) return find(name.substr(6), amz_date, amz_expires, amz_signature);
    if (ascii::starts_with(name, "X-Goog-"))
      return find(name.substr(7), goog_date, goog_expires, goog_signature);
    if (name == "GoogleAccessId" || name == "AWSAccessKeyId") return &access_id;
    if (name == "Expires") return &expires;
    return name == "Signature" ? &signature : nullptr;
  }
  static std::string_view* find(std::string_view name, std::string_view& date, std::string_view& lifetime,
                                std::string_view& signed_with) {
    if (ascii::same(name, "Date")) return &date;
    if (ascii::same(name, "Expires")) return &lifetime;
    return ascii::same(name, "Signature") ? &signed_with : nullptr;
  }
};

std::optional<std::int64_t> end_of_life(std::optional<std::int64_t> begin, std::string_view lifetime) {
  const std::optional<std::uint64_t> life = ascii::decimal(lifetime);
  if (!begin || !life || *life < 1 || *life > longest_life) return std::nullopt;
  return *begin + static_cast<std::int64_t>(*life);
}

std::optional<std::int64_t> read_unix(std::string_view text) {
  const std::optional<std::uint64_t> value = ascii::decimal(text);
  if (!value || *value > last_unix_second) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

/// Reads a date in the forms that signers write. Ignores RFC 850 dates, because the century of their
/// two-digit years depends on the current time.
std::optional<std::int64_t> read_signing_date(std::string_view text) {
  if (text.size() > 3 && text[3] == ',') return parse_date(text, 0);
  return parse_basic_date(text);
}

std::optional<std::int64_t> date_of(const RequestHead& head) {
  if (const FieldLine* const date = head.find("x-amz-date")) return parse_basic_date(date->value);
  const FieldLine* const date = head.find(FieldId::date);
  return date == nullptr ? std::nullopt : read_signing_date(date->value);
}

std::optional<std::int64_t> expiry_by_fields(const RequestHead& head) {
  const FieldLine* const authorization = head.find("authorization");
  if (authorization == nullptr || !authorization->value.starts_with("AWS4-HMAC-SHA256 ")) return std::nullopt;
  const std::optional<std::int64_t> date = date_of(head);
  if (const FieldLine* const life = head.find("x-amz-expires")) return end_of_life(date, life->value);
  return date ? std::optional(*date + clock_skew) : std::nullopt;
}

bool names_range_field(std::string_view token) {
  return std::any_of(range_fields.begin(), range_fields.end(),
                     [token](std::string_view each) { return ascii::same(each, token); });
}

/// Returns true if the text contains the name of a range field. Compares every run of letters, digits and
/// hyphens; percent-encoded bytes end a run. A false match is harmless: the download is only not resumed.
bool mentions_range_field(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (ascii::is_letter(text[i]) || ascii::is_digit(text[i]) || text[i] == '-'))
      continue;
    if (names_range_field(text.substr(begin, i - begin))) return true;
    if (i < text.size() && text[i] == '%') i = std::min(i + 2, text.size());
    begin = i + 1;
  }
  return false;
}

bool is_signing_field(std::string_view name) {
  return ascii::same(name, "signature") || ascii::same(name, "signature-input");
}

}  // namespace

bool signs_range_fields(const RequestHead& head, std::string_view query) {
  const bool by_field = std::any_of(head.fields.begin(), head.fields.end(), [](const FieldLine& field) {
    const bool signs = ascii::same(field.name, "authorization") || is_signing_field(field.name);
    return signs && mentions_range_field(field.value);
  });
  return by_field || policy::any_parameter(query, [](const policy::Parameter& given) {
           constexpr std::string_view list = "-signedheaders";
           const std::string_view name = given.name;
           return name.size() > list.size() && ascii::same(name.substr(name.size() - list.size()), list) &&
                  mentions_range_field(given.value);
         });
}

bool has_one_time_credentials(const RequestHead& head) {
  constexpr std::string_view dpop = "dpop";
  constexpr std::string_view authorization = "authorization";
  return std::any_of(head.fields.begin(), head.fields.end(), [&](const FieldLine& field) {
    if (field.name.size() == dpop.size()) return ascii::same(field.name, dpop);
    return field.name.size() == authorization.size() && ascii::same(field.name, authorization) &&
           ascii::starts_with(field.value, "OAuth ") &&
           field.value.find("oauth_nonce") != std::string_view::npos;
  });
}

std::optional<std::int64_t> signature_expiry(const RequestHead& head, std::string_view query) {
  const SigningParameters found(query);
  if (!found.amz_signature.empty()) return end_of_life(parse_basic_date(found.amz_date), found.amz_expires);
  if (!found.goog_signature.empty())
    return end_of_life(parse_basic_date(found.goog_date), found.goog_expires);
  if (!found.signature.empty() && !found.access_id.empty()) return read_unix(found.expires);
  return expiry_by_fields(head);
}

}  // namespace reprise::http
