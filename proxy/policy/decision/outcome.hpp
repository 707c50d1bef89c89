// The outcome of one attempt: a response's status and hints, or the stage and cause of its failure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/policy/decision/grpc_status.hpp"
#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// The stage at which an attempt failed. The stages are in order of time: if an attempt failed before `send`,
/// no byte of the request has left this host.
enum class Stage : std::uint8_t { resolve, connect, tls, send, await_head, head, body };

/// The cause of a failed attempt. proxy/http/http1/reply has a Proxy-Status error type (RFC 9209) and a
/// sentence for each cause.
enum class Cause : std::uint8_t {
  dns_error,              // the name does not resolve
  dns_timeout,            // the resolver did not respond within connect_timeout or the deadline
  refused,                // ECONNREFUSED
  unreachable,            // EHOSTUNREACH, ENETUNREACH and similar
  connect_timeout,        // no connection within connect_timeout or the deadline
  no_local_port,          // EADDRNOTAVAIL
  no_descriptor,          // EMFILE, ENFILE
  address_denied,         // every address is under security.deny
  address_is_self,        // the address is one of our own listeners: a loop
  parent_unreachable,     // the parent proxy's name does not resolve, or no address accepts a connection
  parent_timeout,         // no tunnel through the parent proxy within connect_timeout or the deadline
  parent_refused,         // the parent opened no tunnel: the CONNECT got no 2xx, or its connection broke
  tls_protocol_error,     // no common protocol version or cipher, or not TLS at all
  tls_certificate_error,  // the certificate of the upstream could not be verified
  tls_alert_received,     // the upstream rejected our side of TLS: a certificate is missing or not accepted
  closed,                 // the upstream closed (FIN) before the head was complete
  reset,                  // RST or EPIPE
  keepalive_lost,         // TCP keepalive or TCP_USER_TIMEOUT expired: dead peer
  unacknowledged,         // bytes on a reused connection were retransmitted but never acknowledged
  not_http2,       // the upstream does not speak HTTP/2, which the route or a gRPC call requires; or `http2:
                   // never` got a call
  stream_refused,  // HTTP/2: RST_STREAM(REFUSED_STREAM)
  stream_reset,    // HTTP/2: RST_STREAM with another code before the head was complete
  goaway,          // HTTP/2: the upstream's GOAWAY excludes the request
  http_1_1_required,   // HTTP/2: the upstream accepts the request only over HTTP/1.1
  attempt_timeout,     // attempt_timeout or the deadline ended the attempt or its upload
  response_timeout,    // no head within response_timeout
  malformed_response,  // the head is not valid HTTP/1.x or HTTP/2, or its framing is ambiguous
  header_too_large,    // the head is over limits.header or limits.header_fields
  truncated,           // the response body ended early
  cancelled,           // stopped by us: the client has gone or reprise is shutting down
  replay_lost,         // stopped by us: the held request body could not be read back
};

inline constexpr std::uint8_t cause_count = count_of<Cause>;
inline constexpr std::uint8_t stage_count = count_of<Stage>;

/// Return the name of the enumerator.
std::string_view word(Stage);
std::string_view word(Cause);

/// The retry hints of an upstream, from a response head or from the trailers of a gRPC call.
struct Hints {
  /// The longest pause that the hint fields ask for; absent if malformed or 0.
  std::optional<Duration> retry_after;
  /// The field x-amz-retry-after. The resulting wait is limited to the range from the backoff to the backoff
  /// plus 5 s.
  std::optional<Duration> aws_retry_after;
  bool said_no = false;       ///< the upstream explicitly asks not to retry
  bool from_reprise = false;  ///< another reprise has retried this response already (row D20)

  /// Adds the hints of another source about the same wait: the longer pauses win, and one refusal is enough.
  void add(const Hints& other);
};

struct Responded {
  int status = 0;  ///< 200 to 999; interim responses are never an outcome
  Hints hints;
  bool body_listed = false;   ///< a predicate in the route's `hold.body` matches the held body or the head
  bool body_refused = false;  ///< the predicate that matched is marked `refused`: the upstream did nothing
  /// The status of a gRPC call that ended before its first message; absent for any other response (rows M72
  /// to M75).
  std::optional<GrpcStatus> grpc = std::nullopt;
};

/// Returns true if the response ended a gRPC call with a status other than `ok`.
bool is_failed_call(const Responded&);

struct Failed {
  Stage stage = Stage::connect;
  Cause cause = Cause::refused;
  /// For `parent_refused`: the status of the parent proxy's response to our CONNECT; 0 if there was no
  /// response.
  int received_status = 0;
  /// Details of the cause; empty if unknown. A view of a string with static lifetime.
  /// - `tls_certificate_error`: why verification failed. The text comes from the TLS library, without its
  ///   error number and without text from the other side.
  /// - other TLS failures: the name of the alert that was received.
  /// - `malformed_response`: the word of the rule that the head breaks, such as `bad_status_line`, or the
  ///   transfer coding that is not supported, or why the response does not open the WebSocket of an HTTP/2
  ///   client.
  /// - `stream_reset`: the word of the HTTP/2 error code.
  std::string_view why{};
  /// For `dns_error`: the name does not exist, and this process has never resolved it.
  bool never_existed = false;
  /// For `tls_certificate_error` and `tls_alert_received`: the TLS handshake was with the parent proxy.
  bool of_parent = false;
  /// HTTP/2: the upstream reported that it did not process the request. Bytes of the request may have left
  /// this host (rows M68 and M69).
  bool unprocessed = false;
};

/// Returns the word of the HTTP/2 error code with which the upstream reset the stream; empty for any other
/// failure.
std::string_view reset_code(const Failed&);
/// Returns the word of the cause, followed by the error code of a stream that was reset: "stream_reset
/// (cancel)".
std::string cause_text(const Failed&);

using Outcome = std::variant<Responded, Failed>;

/// Returns true if the body of a response broke while the whole response was still held back. The received
/// part can still be delivered.
bool is_broken_response(const Outcome&);

/// Returns true if this host, its resolver or its parent proxy caused the failure. Such a failure says
/// nothing about the upstream (row L27).
bool is_fault_of_ours(Cause);
/// Returns true if `is_fault_of_ours(cause)` is true, or if the failed TLS handshake was with the parent
/// proxy.
bool is_fault_of_ours(const Failed&);

/// Returns true if the upstream cannot have processed the request: no byte of the attempt left this host, or
/// the upstream reported that it did nothing. `all_unsent` means that the kernel had accepted no byte.
bool is_unsent(const Outcome&, bool all_unsent);

/// All values of the metric label `outcome`.
inline constexpr auto outcome_labels =
    std::to_array<std::string_view>({"2xx", "3xx", "4xx", "5xx", "other", "resolve", "connect", "tls",
                                     "reset", "timeout", "truncated", "cancelled", "grpc"});

/// Returns the value of the metric label `outcome` for an attempt. A malformed head counts as `reset`,
/// because no complete head arrived. `grpc`: the HTTP status is 200, but the call failed (row M108).
std::string_view outcome_label(const Outcome&);

}  // namespace reprise::policy
