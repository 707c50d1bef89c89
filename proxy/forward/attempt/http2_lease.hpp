// Gets a stream of an HTTP/2 connection for one attempt: of a connection that exists, or of a fresh one.
#pragma once

#include <optional>

#include "proxy/forward/attempt/one_attempt.hpp"

namespace reprise::forward {

/// Stores a stream in `response.connection` (rows M53 to M57), or an HTTP/1 connection if the route allows
/// either version and the upstream does not speak HTTP/2 (rows M20 and M21), or if the request asks for a
/// WebSocket and the upstream does not permit it over HTTP/2 (row M12). Dials if no connection has room,
/// and waits for the upstream's SETTINGS, for at most `connect_timeout` (row M25). If no further connection
/// is allowed, waits for a stream, in order of arrival, until `deadline`. Returns the failure if there is no
/// stream; no byte of the request was sent then. `address` receives the address of the connection, or else
/// the last address that was dialled. Adds the time of the wait to the report.
Task<std::optional<policy::Failed>> stream_for(OneAttempt&, const policy::Start&,
                                               std::optional<Instant> deadline,
                                               policy::UpstreamAddress& address);

/// Completes the failure of an attempt over HTTP/2: whether the upstream has proved that it did nothing (rows
/// M68 and M69), the word of the error code, and why a head was rejected. `how`: how the stream failed;
/// nothing if it did not.
void describe_stream_failure(const std::optional<http::Http2Failure>& how, policy::RefusedStream,
                             policy::Failed&);

/// Makes the next requests to the upstream go over HTTP/1 for ten minutes if the attempt failed with
/// `http_1_1_required` (row M29).
void note_http1_required(net::Upstream&, const policy::Outcome&);

}  // namespace reprise::forward
