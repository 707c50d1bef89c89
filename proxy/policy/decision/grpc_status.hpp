// The status codes of gRPC, each with its word in configuration, log and metrics.
#pragma once

#include <algorithm>
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

/// Returns the status with that number or that word, in upper or lower case: `14`, `UNAVAILABLE`. Returns
/// nothing for any other text.
constexpr std::optional<GrpcStatus> parse_grpc_status(std::string_view text) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto same = [&](std::string_view known) {
    return std::equal(text.begin(), text.end(), known.begin(), known.end(),
                      [&](char a, char b) { return lower(a) == b; });
  };
  for (std::size_t i = 0; i < grpc_status_count; ++i) {
    const bool is_number =
        (text.size() == 1 && i < 10 && text[0] == static_cast<char>('0' + i)) ||
        (text.size() == 2 && i >= 10 && text[0] == '1' && text[1] == static_cast<char>('0' + i - 10));
    if (is_number || same(names_of<GrpcStatus>[i])) return static_cast<GrpcStatus>(i);
  }
  return std::nullopt;
}
static_assert(parse_grpc_status("Unavailable") == GrpcStatus::unavailable);
static_assert(parse_grpc_status("14") == GrpcStatus::unavailable && parse_grpc_status("0") == GrpcStatus::ok);
static_assert(!parse_grpc_status("17") && !parse_grpc_status("014") && !parse_grpc_status(""));

}  // namespace reprise::policy
