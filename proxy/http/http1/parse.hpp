// Heads of HTTP/1.x: the framing guard's reading and Beast's, which must agree.
#pragma once

#include <string_view>

#include "proxy/http/http1/parse.hpp"
#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Reads one request head from the start of `buffer`, after skipping at most 4 empty lines (`skipped` counts
/// their bytes). The framing guard reads it first, Beast's parser second; they must agree. `head` is
/// refilled: its vector keeps its storage, so that a connection allocates once. The views live as long as the
/// buffer, those of a head that was `partial` or refused too. A `partial` buffer over the limits is already
/// refused. Never reads past `buffer`.
Parsed parse_request(std::string_view buffer, const HeadLimits&, RequestHead& head);

/// The same for a response to a request of that method (RFC 9112 6.3 needs it).
/// TE wins over CL, and the connection is then not reusable; `identity` in TE counts as not there. Lines that
/// end in LF alone, folded fields and HTTP/1.2 to 1.9 are read, and the head is made clean. Repeated
/// differing CL, bad chunked, a fold in a framing field or before the first field, control bytes are refused.
Parsed parse_response(std::string_view buffer, const HeadLimits&, std::string_view request_method,
                      ResponseHead& head);

}  // namespace reprise::http
