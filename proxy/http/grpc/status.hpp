// Reads the status of a gRPC call from the fields of its response.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/grpc_status.hpp"

namespace reprise::http {

/// Return the value of grpc-status; nothing if the field is absent. The value is `unknown` if it is not a
/// decimal number from 0 to 16 without sign and leading zero, or if the field occurs with different values
/// (row M74).
std::optional<policy::GrpcStatus> status_of(const std::vector<FieldLine>& fields);
/// `trailer_lines`: the trailers as HTTP/1 lines; each ends in CRLF.
std::optional<policy::GrpcStatus> status_of(std::string_view trailer_lines);

/// Returns the status of a call whose response has that HTTP status and no grpc-status. The mapping is that
/// of gRPC (doc/http-grpc-status-mapping.md).
policy::GrpcStatus status_of_http(int status);

}  // namespace reprise::http
