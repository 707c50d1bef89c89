// Decides whether a simulated request succeeded.
#pragma once

#include <optional>

#include "proxy/policy/decision/grpc_status.hpp"

namespace reprise::tools {

/// Returns true if the status of a gRPC call reports a failure of the server, or that it is overloaded.
constexpr bool is_server_failure(policy::GrpcStatus status) {
  using enum policy::GrpcStatus;
  return status == unknown || status == deadline_exceeded || status == resource_exhausted ||
         status == unimplemented || status == internal || status == unavailable || status == data_loss;
}

/// Returns true if the client got a response below 500, other than 408 and 429. `call`: status of a gRPC
/// call.
constexpr bool is_success(int http_status, std::optional<policy::GrpcStatus> call) {
  return http_status < 500 && http_status != 408 && http_status != 429 && !(call && is_server_failure(*call));
}

}  // namespace reprise::tools
