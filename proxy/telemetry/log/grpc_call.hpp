// What log, history and spans report of a gRPC call: service, method, and which statuses are errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/policy/decision/grpc_status.hpp"

namespace reprise::telemetry {

/// The service and the method of a call. Both are empty if the path does not name them.
struct CallName {
  std::string_view service;
  std::string_view method;
};

/// Splits `/SERVICE/METHOD`. Returns views into `path`.
constexpr CallName call_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (!path.starts_with('/') || slash < 2 || slash + 1 == path.size()) return {};
  const std::string_view service = path.substr(1, slash - 1);
  if (service.find('/') != std::string_view::npos) return {};
  return {service, path.substr(slash + 1)};
}

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
