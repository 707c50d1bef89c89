// Reads how a gRPC call ended, if it ended before its first message.
#pragma once

#include "proxy/forward/request/response.hpp"
#include "proxy/net/io/task.hpp"
#include "proxy/policy/decision/outcome.hpp"

namespace reprise::forward {

/// Returns a copy of `head` in which `grpc` and the hints are set if the response ended before its first
/// message: in its head (Trailers-Only), or by trailers that follow the head (rows M72 to M77). Otherwise
/// returns `head` as it is. If `may_wait`, waits for the next frame until `until`, and keeps the bytes of a
/// message in `response.body`. Returns a failure if the response broke meanwhile.
Task<policy::Outcome> read_call_end(policy::Responded head, bool may_wait, Instant until, Response& response);

}  // namespace reprise::forward
