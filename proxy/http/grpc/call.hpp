// Distinguishes gRPC calls from other requests.
#pragma once

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Returns true for a POST whose Content-Type is `application/grpc`, alone or followed by `+` or `;`. False
/// for `application/grpc-web`. A call needs HTTP/2 from end to end, because its status is in the trailers.
bool is_grpc_call(const RequestHead&);

}  // namespace reprise::http
