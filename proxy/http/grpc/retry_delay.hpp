// Reads the delay that a gRPC server asks for in the details of its status.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::http {

/// Returns the longest `retry_delay` of the google.rpc.RetryInfo messages in a value of
/// grpc-status-details-bin, limited to `longest_pause`. The value is a google.rpc.Status in base64, with or
/// without padding. Malformed, negative and zero delays are ignored. Returns nothing if no delay is left, if
/// the value is malformed, or if it has more than 16 KiB when decoded (row M77).
std::optional<policy::Duration> read_retry_delay(std::string_view details);

}  // namespace reprise::http
