// Distinguishes gRPC calls from other requests, and reads what a call says about itself.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/http/message/head.hpp"

namespace reprise::http {

/// Returns true for a POST whose Content-Type is `application/grpc`, alone or followed by `+` or `;`. False
/// for `application/grpc-web`. A call needs HTTP/2 from end to end, because its status is in the trailers.
bool is_grpc_call(const RequestHead&);

/// Names of the called service, with its package, and of its method. Views of the path.
struct CallPath {
  std::string_view service;
  std::string_view method;
};

/// Splits a path of the form `/pkg.Service/Method`. Returns nothing unless the path has exactly two segments
/// and neither is empty. `path`: without the query.
std::optional<CallPath> call_path(std::string_view path);

}  // namespace reprise::http
