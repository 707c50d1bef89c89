// Reads the retry hints that a gRPC server adds to the end of a call.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::http {

/// Return the hints of grpc-retry-pushback-ms (see `read_pushback`) and grpc-status-details-bin (see
/// `read_retry_delay`). The longest pause of all fields wins. `said_no` is true if any pushback forbids
/// the retry.
policy::Hints read_call_hints(const std::vector<FieldLine>& fields);
/// `trailer_lines`: the trailers as HTTP/1 lines; each ends in CRLF.
policy::Hints read_call_hints(std::string_view trailer_lines);

}  // namespace reprise::http
