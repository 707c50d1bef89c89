// Parses HTTP/1.x heads with the framing guard and with Beast; both must agree.
#pragma once

#include <string_view>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Reads one request head from the start of `buffer`, after at most 4 empty lines (`skipped` counts their
/// bytes). The framing guard reads it first, Beast's parser second, and they must agree. Refills `head` and
/// keeps the storage of its vector, so that a connection allocates once. The views are valid as long as the
/// buffer, also after `partial` or a rejection. Rejects a `partial` buffer over the limits. Never reads past
/// `buffer`.
Parsed parse_request(std::string_view buffer, const HeadLimits&, RequestHead& head);

/// Reads the head of a response to a request of that method (RFC 9112 6.3 needs it).
/// - TE wins over CL, and the connection is then not reusable. `identity` in TE is ignored.
/// - Lines that end in LF alone, folded fields and HTTP/1.2 to 1.9 are accepted, and the head is made clean.
/// - Rejected: repeated CL that differs, bad chunked, a fold in a framing field or before the first field,
///   control bytes.
Parsed parse_response(std::string_view buffer, const HeadLimits&, std::string_view request_method,
                      ResponseHead& head);

}  // namespace reprise::http
