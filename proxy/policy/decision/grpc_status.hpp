// The status codes of gRPC, each with its word in configuration, log and metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::policy {

/// The values are those of the field `grpc-status`.
enum class GrpcStatus : std::uint8_t {
  ok,
  cancelled,
  unknown,
  invalid_argument,
  deadline_exceeded,
  not_found,
  already_exists,
  permission_denied,
  resource_exhausted,
  failed_precondition,
  aborted,
  out_of_range,
  unimplemented,
  internal,
  unavailable,
  data_loss,
  unauthenticated,
};

inline constexpr std::size_t grpc_status_count = count_of<GrpcStatus>;
static_assert(grpc_status_count == 17);

/// Returns the word of the status: the enumerator's name.
constexpr std::string_view word(GrpcStatus status) {
  return names_of<GrpcStatus>[static_cast<std::size_t>(status)];
}

/// Returns the status with that word; nothing if there is none.
constexpr std::optional<GrpcStatus> grpc_status_of(std::string_view word) {
  for (std::size_t i = 0; i < grpc_status_count; ++i) {
    if (names_of<GrpcStatus>[i] == word) return static_cast<GrpcStatus>(i);
  }
  return std::nullopt;
}

}  // namespace reprise::policy
