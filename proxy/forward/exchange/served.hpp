// The result of an exchange for the client.
#pragma once

#include <cstdint>

#include "proxy/telemetry/log/exchange_record.hpp"

namespace reprise::forward {

/// The data that the session needs to record the exchange and to decide whether the connection continues.
struct Served {
  telemetry::Ending ending = telemetry::Ending::complete;
  int status = 0;
  bool own_response = false;
  /// Bytes from the client in a tunnel; RequestBody counts those of request bodies.
  std::uint64_t request_bytes = 0;
  std::uint64_t response_bytes = 0;
  bool keep_alive = false;  ///< another request may follow on the connection
  telemetry::Carried carried = telemetry::Carried::nothing;
  /// The status that the client of a gRPC call got; absent if the response ended without one.
  std::optional<policy::GrpcStatus> grpc{};
  bool inside = false;  ///< true for a tunnel that carries HTTP requests; their first bytes are in `early`
};

}  // namespace reprise::forward
