// Distinguishes gRPC calls from other requests.
#pragma once

#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Returns true for `application/grpc`, alone or followed by `+` or `;`. False for `application/grpc-web`.
bool is_grpc_type(std::string_view content_type);

/// Returns true for a POST over HTTP/2 with such a Content-Type. A call needs HTTP/2 from end to end, because
/// its status is in the trailers.
bool is_grpc_call(const RequestHead&);

}  // namespace reprise::http
