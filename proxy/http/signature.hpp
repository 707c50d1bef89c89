// Until when a signed request may be sent: SigV4 headers, presigned URLs of AWS and Cloud Storage (V4 and
// V2).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/http/head.hpp"

namespace reprise::http {

/// Seconds since 1970 UTC after which an upstream refuses the signature; nothing for an unsigned request and
/// for one whose times cannot be read. The query wins over headers. X-Amz-Date + X-Amz-Expires, X-Goog-Date +
/// X-Goog-Expires, `Expires` of a V2 signed URL; for an `Authorization: AWS4-HMAC-SHA256` without a lifetime,
/// X-Amz-Date (or Date) plus 300 s, what AWS services allow.
std::optional<std::int64_t> signature_expiry(const RequestHead&, std::string_view query);

}  // namespace reprise::http
