// Builds the proxy's own response to a gRPC call that has no upstream response.
#pragma once

#include <string>
#include <string_view>

#include "proxy/http/http1/reply.hpp"
#include "proxy/policy/decision/grpc_status.hpp"

namespace reprise::http {

/// Returns the status of a call that fails with the proxy's own HTTP status (row M80). `calls_deadline`: the
/// deadline of the call itself is exceeded; a 502, 503 or 504 is then `deadline_exceeded`.
policy::GrpcStatus status_of_failure(int http_status, bool calls_deadline);

/// Appends the response as HTTP/1 text: the head of a 200 with Date, Content-Type, grpc-status, grpc-message,
/// Proxy-Status and `extra_fields`. `extra_fields`: lines that end in CRLF. The message is the body of the
/// reply in one line, its lines joined by `; ` and percent-encoded as gRPC requires.
///
/// The head has no framing field, because the response is Trailers-Only: one HEADERS frame that ends the
/// stream. For this, pass the text to `ClientEnd::add_head`, then call `ClientEnd::add_end` without trailers
/// before anything is sent, and do not call `add_piece`.
void write_call_failure(const Reply&, policy::GrpcStatus, std::string_view date,
                        std::string_view extra_fields, std::string& out);

}  // namespace reprise::http
