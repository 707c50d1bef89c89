// What a signed request's signature allows: until when it may be sent, and which of its parts may change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Seconds since 1970 UTC after which an upstream refuses the signature; nothing for an unsigned request and
/// for one whose times cannot be read. The query wins over headers. X-Amz-Date + X-Amz-Expires, X-Goog-Date +
/// X-Goog-Expires, `Expires` of a V2 signed URL; for an `Authorization: AWS4-HMAC-SHA256` without a lifetime,
/// X-Amz-Date (or Date) plus 300 s, what AWS services allow.
std::optional<std::int64_t> signature_expiry(const RequestHead&, std::string_view query);

/// True if the request's credentials are valid once: an OAuth 1 nonce (RFC 5849 3.3, in Authorization), or a
/// DPoP proof (RFC 9449 4.2). A second request with them is refused, whatever became of the first.
bool has_one_time_credentials(const RequestHead&);

/// What a request for the rest of a download has of its own, or leaves out (RFC 9110 13.1, 14.2).
inline constexpr std::array<std::string_view, 6> range_fields{
    "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"};

/// True if a signature names one of `range_fields`: SignedHeaders of SigV4 (AWS and Cloud Storage, in
/// Authorization or in the query), `headers` of a Signature authorization, Signature-Input (RFC 9421).
bool signs_range_fields(const RequestHead&, std::string_view query);

}  // namespace reprise::http
