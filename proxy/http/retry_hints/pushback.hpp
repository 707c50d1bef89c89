// Reads the value of grpc-retry-pushback-ms, with which a gRPC server delays or forbids a retry.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/policy/pacing/instant.hpp"

namespace reprise::http {

/// Returns the pause that the value asks for: a decimal number of milliseconds below 2^31, without sign,
/// fraction or leading zero. Returns nothing if the value forbids the retry: it is negative or no such number
/// (gRPC A6, row M76).
std::optional<policy::Duration> read_pushback(std::string_view value);

}  // namespace reprise::http
