// Reads the limits of a signed request: its expiry, and the parts that must not change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Returns the time in seconds since 1970 UTC after which an upstream rejects the signature. Returns nothing
/// for an unsigned request, or if its times cannot be read. The query takes precedence over header fields.
/// Sources are X-Amz-Date + X-Amz-Expires, X-Goog-Date + X-Goog-Expires, and `Expires` of a V2 signed URL.
/// For an `Authorization: AWS4-HMAC-SHA256` without a lifetime, the time is X-Amz-Date (or Date) plus 300 s,
/// which AWS services allow.
std::optional<std::int64_t> signature_expiry(const RequestHead&, std::string_view query);

/// Returns true if the request's credentials are valid only once: an OAuth 1 nonce (RFC 5849 3.3, in
/// Authorization), or a DPoP proof (RFC 9449 4.2). The upstream rejects a second request with them, even if
/// the first one failed.
bool has_one_time_credentials(const RequestHead&);

/// Fields that the request for the rest of a download replaces or omits (RFC 9110 13.1, 14.2).
inline constexpr std::array<std::string_view, 6> range_fields{
    "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"};

/// Returns true if a signature covers one of `range_fields`: SignedHeaders of SigV4 (AWS and Cloud Storage,
/// in Authorization or in the query), `headers` of a Signature authorization, or Signature-Input (RFC 9421).
bool signs_range_fields(const RequestHead&, std::string_view query);

}  // namespace reprise::http
