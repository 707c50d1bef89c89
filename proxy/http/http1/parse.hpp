// Parses HTTP/1.x heads with the framing guard and with Beast; both must agree.
#pragma once

#include <string_view>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Reads one request head from the start of `buffer`, after at most 4 empty lines (`skipped` counts their
/// bytes). The framing guard reads it first, then Beast's parser, and they must agree. Refills `head` but
/// keeps the storage of its vector, so that a connection allocates once. The views are valid as long as the
/// buffer, even after `partial` or a rejection. If the head is incomplete but exceeds a limit, rejects it.
/// Never reads past `buffer`.
Parsed parse_request(std::string_view buffer, const HeadLimits&, RequestHead& head);

/// Reads the head of a response. `request_method` is the method of the request, on which the framing depends
/// (RFC 9112 6.3).
/// - Transfer-Encoding wins over Content-Length, and the connection is then not reusable. The coding
///   `identity` is ignored.
/// - Lines that end in LF alone, folded fields and HTTP/1.2 to 1.9 are accepted, and the head is rewritten in
///   clean form.
/// - Rejected: several Content-Length values that differ, a bad `chunked`, a fold in a framing field or
///   before the first field, and control bytes.
Parsed parse_response(std::string_view buffer, const HeadLimits&, std::string_view request_method,
                      ResponseHead& head);

}  // namespace reprise::http
