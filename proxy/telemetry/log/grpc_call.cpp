#include "proxy/telemetry/log/grpc_call.hpp"

namespace reprise::telemetry {

std::string status_text(int status, const std::optional<policy::GrpcStatus>& grpc) {
  if (!grpc) return std::to_string(status);
  std::string text = status == 200 ? "" : std::to_string(status) + " ";
  return text.append("grpc ").append(policy::word(*grpc));
}

}  // namespace reprise::telemetry
