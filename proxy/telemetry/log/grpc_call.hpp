// What log, history and spans report of the status of a gRPC call.
#pragma once

#include <optional>
#include <string>

#include "proxy/policy/decision/grpc_status.hpp"

namespace reprise::telemetry {

/// Returns true for a status that reports a failure of the server. OpenTelemetry's semantic conventions for
/// gRPC mark the span of a server as an error for these statuses only.
constexpr bool is_server_error(policy::GrpcStatus status) {
  switch (status) {
    case policy::GrpcStatus::unknown:
    case policy::GrpcStatus::deadline_exceeded:
    case policy::GrpcStatus::unimplemented:
    case policy::GrpcStatus::internal:
    case policy::GrpcStatus::unavailable:
    case policy::GrpcStatus::data_loss: return true;
    default: return false;
  }
}

/// Returns the status of a response as text for people: `503`, `grpc unavailable`, or `503 grpc unavailable`
/// if a call got a status although its HTTP status is not 200.
std::string status_text(int status, const std::optional<policy::GrpcStatus>& grpc);

}  // namespace reprise::telemetry
