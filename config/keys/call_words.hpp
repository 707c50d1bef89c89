// The words for statuses of gRPC calls in `retry.on`, such as `grpc-unavailable`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/policy/decision/grpc_status.hpp"

namespace reprise::config {

/// Returns the word of the status.
std::string call_word(policy::GrpcStatus);
/// Returns the status with that word; nothing if the text is no such word.
std::optional<policy::GrpcStatus> call_status(std::string_view word);
/// Suggests the word for another spelling of a status: its name alone, its number, or other letters and
/// separators, such as `RESOURCE-EXHAUSTED` or `grpc-8`. Empty if the text names no status that may be
/// retried.
std::string meant_call_word(std::string_view text);

}  // namespace reprise::config
