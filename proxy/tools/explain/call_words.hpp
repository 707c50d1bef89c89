// Builds the sentences of an explanation that only gRPC calls have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/tools/explain/explain_report.hpp"

namespace reprise::tools {

/// How the field `grpc-timeout` is passed on (row M87).
inline constexpr std::string_view time_left =
    "attempt 1 carries grpc-timeout unchanged, every later attempt the time that is left";

/// Returns the status as `14 (unavailable)`.
std::string status_text(policy::GrpcStatus);

/// Returns whose deadline the explanation has, in parentheses. Empty if the request has no deadline of its
/// own.
std::string deadline_owner(const ExplainReport&);

/// Returns what the client of a call gets from the upstream. Precondition: the course does not end with a
/// failure of the proxy's own.
std::string call_gets(const ExplainReport&);

/// Returns the proxy's own response to a call (row M80). Precondition: the course ends with Fail.
std::string failed_call_gets(const Explanation&, const Course&);

/// Returns sentences on how long the response head of the call waits for its next frame (row M72). Empty if
/// it does not wait.
std::vector<std::string> held_of_call(const ExplainReport&);

}  // namespace reprise::tools
