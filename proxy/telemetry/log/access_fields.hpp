// The fields of a JSON line in the log: the name of each in the formats `json` and `otel`, its type, its unit
// and its meaning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "proxy/policy/match/enumerators.hpp"

namespace reprise::telemetry {

/// Naming scheme of the fields of a JSON line. `otel`: the names of OpenTelemetry's semantic conventions.
/// Fields that these conventions do not define have names from the Elastic Common Schema, or names that begin
/// with `reprise.`.
enum class Dialect : std::uint8_t { own, otel };

/// The JSON object that contains a field.
enum class FieldOf : std::uint8_t {
  every_line,
  request,    ///< the access line
  call,       ///< the object `grpc` of the access line of a gRPC call
  attempt,    ///< an item of the access line's list of attempts
  exhausted,  ///< the error record of a request that was ended by a limit
  message,    ///< any other line
};

/// All fields of the JSON lines, in the order of `field_rows`.
enum class Field : std::uint8_t {
  time,
  level,
  route,
  client,
  client_port,
  method,
  method_original,
  client_http_version,
  host,
  port,
  scheme,
  path,
  call,
  rpc_system,
  rpc_service,
  rpc_method,
  status,
  rpc_status,
  error_type,
  ending,
  reason,
  attempt_count,
  attempts,
  attempts_left_out,
  request_bytes,
  response_bytes,
  took,
  ambiguous,
  hedge,
  hedge_refused,
  tunnel,
  carried,
  id,
  request_id,
  trace_id,
  call_service,
  call_method,
  call_status,
  number,
  resend_count,
  upstream,
  upstream_port,
  http_version,
  stage,
  error,
  reset_code,
  attempt_status,
  attempt_grpc,
  attempt_grpc_code,
  attempt_took,
  wait,
  queued,
  attempt_reason,
  would_wait,
  reused,
  exhausted_url,
  exhausted_attempts,
  elapsed,
  last_stage,
  last_error,
  last_status,
  last_grpc,
  last_grpc_code,
  limit,
  message,
};

struct FieldRow {
  Field field;
  FieldOf of;
  std::array<std::string_view, 2>
      names;  ///< names, indexed by Dialect; empty if that dialect lacks the field
  std::string_view type;
  std::array<std::string_view, 2> units;  ///< units, indexed by Dialect; may be empty
  std::string_view meaning;
};

// clang-format off
inline constexpr std::array<FieldRow, policy::count_of<Field>> field_rows{{
  {Field::time, FieldOf::every_line, {"time", "@timestamp"}, "string", {"RFC 3339, UTC", "RFC 3339, UTC"}, "When the request ended, or the message was logged."},
  {Field::level, FieldOf::every_line, {"level", "log.level"}, "string", {}, "`error`, `warn`, `info` or `debug`. An access line is `info`."},
  {Field::route, FieldOf::request, {"route", "reprise.route"}, "string", {}, "Name of the route that matched."},
  {Field::client, FieldOf::request, {"client", "client.address"}, "string", {}, "Address of the client; in `client`, followed by the port."},
  {Field::client_port, FieldOf::request, {"", "client.port"}, "integer", {}, "Port of the client."},
  {Field::method, FieldOf::request, {"method", "http.request.method"}, "string", {}, "Method of the request; `_OTHER` in `http.request.method` if no standard knows it."},
  {Field::method_original, FieldOf::request, {"", "http.request.method_original"}, "string", {}, "Method as sent, if no standard knows it; else absent."},
  {Field::client_http_version, FieldOf::request, {"http", "network.protocol.version"}, "string", {}, "HTTP version of the client: `2`; absent for HTTP/1."},
  {Field::host, FieldOf::request, {"host", "server.address"}, "string", {}, "Upstream host as the client wrote it."},
  {Field::port, FieldOf::request, {"port", "server.port"}, "integer", {}, "Upstream port."},
  {Field::scheme, FieldOf::request, {"", "url.scheme"}, "string", {}, "`https` if the upstream is reached over TLS, else `http`. Not for tunnels."},
  {Field::path, FieldOf::request, {"path", "url.path"}, "string", {}, "Path without query, or the route's name with `log.path: route`."},
  {Field::call, FieldOf::request, {"grpc", ""}, "object", {}, "The gRPC call; absent for other requests."},
  {Field::rpc_system, FieldOf::request, {"", "rpc.system"}, "string", {}, "`grpc`; absent for other requests."},
  {Field::rpc_service, FieldOf::request, {"", "rpc.service"}, "string", {}, "Service of the call, from the path; absent with `log.path: route`."},
  {Field::rpc_method, FieldOf::request, {"", "rpc.method"}, "string", {}, "Method of the call, from the path; absent with `log.path: route`."},
  {Field::status, FieldOf::request, {"status", "http.response.status_code"}, "integer", {}, "Status sent to the client. If none was sent: null in `status`, else absent."},
  {Field::rpc_status, FieldOf::request, {"", "rpc.grpc.status_code"}, "integer", {}, "Status of the call that the client got, 0 to 16; absent if the response had none."},
  {Field::error_type, FieldOf::request, {"", "error.type"}, "string", {}, "`cut` or `client_gone`, or the status if it is 500 or above; for a call, the word of a status that reports a failure of the server, such as `unavailable`."},
  {Field::ending, FieldOf::request, {"ending", "reprise.ending"}, "string", {}, "`complete`, `cut` (the response was cut) or `client_gone`."},
  {Field::reason, FieldOf::request, {"reason", "reprise.reason"}, "string", {}, "Why the request ended: a word of `reprise reasons`."},
  {Field::attempt_count, FieldOf::request, {"", "reprise.attempts"}, "integer", {}, "Number of attempts."},
  {Field::attempts, FieldOf::request, {"attempts", "reprise.attempt_list"}, "array of objects", {}, "The attempts in order; the first 24 and the last 8 if there are more than 32."},
  {Field::attempts_left_out, FieldOf::request, {"attempts_left_out", "reprise.attempts_left_out"}, "integer", {}, "Number of attempts that `attempts` leaves out; absent if it has all."},
  {Field::request_bytes, FieldOf::request, {"request_bytes", "http.request.body.size"}, "integer", {"bytes", "bytes"}, "Bytes of the body that were read from the client."},
  {Field::response_bytes, FieldOf::request, {"response_bytes", "http.response.body.size"}, "integer", {"bytes", "bytes"}, "Bytes of the body that were sent to the client."},
  {Field::took, FieldOf::request, {"ms", "http.server.request.duration"}, "number", {"ms", "s"}, "From the request head to the end of the response."},
  {Field::ambiguous, FieldOf::request, {"ambiguous", "reprise.ambiguous"}, "boolean", {}, "True if the response may only mean that an earlier attempt took effect; else absent."},
  {Field::hedge, FieldOf::request, {"hedge", "reprise.hedge"}, "string", {}, "Outcome of the hedge; absent if no hedge was due."},
  {Field::hedge_refused, FieldOf::request, {"hedge_refused", "reprise.hedge_refused"}, "string", {}, "Why no hedge was sent, if one was due."},
  {Field::tunnel, FieldOf::request, {"tunnel", "reprise.tunnel"}, "boolean", {}, "True for a tunnel (CONNECT, SOCKS, redirected, upgraded); else absent."},
  {Field::carried, FieldOf::request, {"carried", "reprise.carried"}, "string", {}, "What the tunnel carried: `requests`, `tls`, `upgraded` or `bytes`."},
  {Field::id, FieldOf::request, {"id", "reprise.id"}, "string", {}, "Name of the request for `reprise explain --request-id`."},
  {Field::request_id, FieldOf::request, {"request_id", "http.request.id"}, "string", {}, "`X-Request-Id` as sent, or else the id."},
  {Field::trace_id, FieldOf::request, {"trace_id", "trace_id"}, "string", {}, "Trace of the request, from its `traceparent`."},
  {Field::call_service, FieldOf::call, {"service", ""}, "string", {}, "Service of the call, from the path; absent with `log.path: route`."},
  {Field::call_method, FieldOf::call, {"method", ""}, "string", {}, "Method of the call, from the path; absent with `log.path: route`."},
  {Field::call_status, FieldOf::call, {"status", ""}, "string", {}, "Status of the call that the client got: a word such as `ok` or `unavailable`; absent if the response had none."},
  {Field::number, FieldOf::attempt, {"n", "reprise.attempt"}, "integer", {}, "Number of the attempt, from 1."},
  {Field::resend_count, FieldOf::attempt, {"", "http.request.resend_count"}, "integer", {}, "Number of earlier attempts; absent for the first attempt."},
  {Field::upstream, FieldOf::attempt, {"upstream", "network.peer.address"}, "string", {}, "Address that was dialled; in `upstream`, followed by the port."},
  {Field::upstream_port, FieldOf::attempt, {"", "network.peer.port"}, "integer", {}, "Port that was dialled."},
  {Field::http_version, FieldOf::attempt, {"http", "network.protocol.version"}, "string", {}, "HTTP version of the attempt: `2`; absent for HTTP/1."},
  {Field::stage, FieldOf::attempt, {"stage", "reprise.stage"}, "string", {}, "Stage in which the attempt failed."},
  {Field::error, FieldOf::attempt, {"error", "error.type"}, "string", {}, "Why the attempt failed."},
  {Field::reset_code, FieldOf::attempt, {"reset_code", "reprise.reset_code"}, "string", {}, "Error code of the RST_STREAM that ended the attempt (RFC 9113 7), such as `cancel`, or `other`; only with the error `stream_reset`."},
  {Field::attempt_status, FieldOf::attempt, {"status", "http.response.status_code"}, "integer", {}, "Status with which the upstream responded."},
  {Field::attempt_grpc, FieldOf::attempt, {"grpc", ""}, "string", {}, "Status of a gRPC call that ended before its first message: a word such as `unavailable`; else absent."},
  {Field::attempt_grpc_code, FieldOf::attempt, {"", "rpc.grpc.status_code"}, "integer", {}, "Status of a gRPC call that ended before its first message, 0 to 16; else absent."},
  {Field::attempt_took, FieldOf::attempt, {"ms", "http.client.request.duration"}, "number", {"ms", "s"}, "Time that the attempt took."},
  {Field::wait, FieldOf::attempt, {"wait_ms", "reprise.wait_ms"}, "number", {"ms", "ms"}, "Wait before the attempt."},
  {Field::queued, FieldOf::attempt, {"queued_ms", "reprise.queued_ms"}, "number", {"ms", "ms"}, "How long the attempt waited for an HTTP/2 stream; absent if it did not wait."},
  {Field::attempt_reason, FieldOf::attempt, {"reason", "reprise.reason"}, "string", {}, "Why the attempt was retried or not: a word of `reprise reasons`."},
  {Field::would_wait, FieldOf::attempt, {"would_wait_ms", "reprise.would_wait_ms"}, "number", {"ms", "ms"}, "Wait that `mode: observe` only computed; else absent."},
  {Field::reused, FieldOf::attempt, {"reused", "reprise.reused"}, "boolean", {}, "True if the connection had carried an earlier request."},
  {Field::exhausted_url, FieldOf::exhausted, {"url", "url.full"}, "string", {}, "URL without query."},
  {Field::exhausted_attempts, FieldOf::exhausted, {"attempts", "reprise.attempts"}, "integer", {}, "Number of attempts."},
  {Field::elapsed, FieldOf::exhausted, {"elapsed_ms", "http.server.request.duration"}, "number", {"ms", "s"}, "From the request head to the end of the response."},
  {Field::last_stage, FieldOf::exhausted, {"last_stage", "reprise.stage"}, "string", {}, "Stage in which the last attempt failed."},
  {Field::last_error, FieldOf::exhausted, {"last_error", "error.type"}, "string", {}, "Why the last attempt failed."},
  {Field::last_status, FieldOf::exhausted, {"last_status", "http.response.status_code"}, "integer", {}, "Status of the last attempt."},
  {Field::last_grpc, FieldOf::exhausted, {"last_grpc", ""}, "string", {}, "Status of the call in the last attempt: a word such as `unavailable`; absent if the attempt has none."},
  {Field::last_grpc_code, FieldOf::exhausted, {"", "rpc.grpc.status_code"}, "integer", {}, "Status of the call in the last attempt, 0 to 16; absent if the attempt has none."},
  {Field::limit, FieldOf::exhausted, {"limit", "reprise.reason"}, "string", {}, "The limit that ended the retries."},
  {Field::message, FieldOf::message, {"message", "message"}, "string", {}, "Text of the message; `retries exhausted` in the record of an exhausted request."},
}};
// clang-format on
static_assert(policy::follows_enumerators(field_rows, [](const FieldRow& row) { return row.field; }));

constexpr const FieldRow& row(Field field) { return field_rows[static_cast<std::size_t>(field)]; }

}  // namespace reprise::telemetry
