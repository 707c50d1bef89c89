// What one attempt came to: a response's status and hints, or the stage and cause of its failure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "proxy/policy/match/enumerators.hpp"
#include "proxy/policy/pacing/instant.hpp"

namespace reprise::policy {

/// How far an attempt had come. Ordered: before `send`, nothing left this host.
enum class Stage : std::uint8_t { resolve, connect, tls, send, await_head, head, body };

/// What ended a failed attempt. Each has one Proxy-Status error
/// type (RFC 9209) and one sentence, in proxy/http/http1/reply.
enum class Cause : std::uint8_t {
  dns_error,              // the name does not resolve
  dns_timeout,            // no response from the resolver within connect_timeout or the deadline
  refused,                // ECONNREFUSED
  unreachable,            // EHOSTUNREACH, ENETUNREACH and kin
  connect_timeout,        // no connection within connect_timeout or the deadline
  no_local_port,          // EADDRNOTAVAIL
  no_descriptor,          // EMFILE, ENFILE
  address_denied,         // every address is under security.deny
  address_is_self,        // the address is one of our own listeners: a loop
  parent_unreachable,     // the parent proxy's name does not resolve, or every address of it refuses
  parent_timeout,         // its resolver, its addresses or its CONNECT took
                          // longer than connect_timeout or the deadline
  parent_refused,         // it opened no tunnel: its CONNECT was answered other than 2xx, or broken off
  tls_protocol_error,     // no TLS that both sides speak, or not TLS at all
  tls_certificate_error,  // the upstream could not prove who it is
  tls_alert_received,     // the upstream refused this side of TLS: no certificate, or one that it does not
                          // accept
  closed,                 // the upstream closed (FIN) before the head was complete
  reset,                  // RST or EPIPE
  keepalive_lost,         // TCP keepalive or TCP_USER_TIMEOUT gave up: the host is dead
  unacknowledged,         // a reused connection: what was sent again and again was never acknowledged
  attempt_timeout,        // attempt_timeout or the deadline ended the attempt, or its upload
  response_timeout,       // no head within response_timeout
  malformed_response,     // the head is not HTTP/1.x, or its framing is ambiguous
  header_too_large,       // the head is over limits.header or limits.header_fields
  truncated,              // the body ended before its end
  cancelled,              // we stopped it: client gone or shutting down
  replay_lost,            // we stopped it: the held request body could not be read back
};

inline constexpr std::uint8_t cause_count = count_of<Cause>;
inline constexpr std::uint8_t stage_count = count_of<Stage>;

/// Their own names.
std::string_view word(Stage);
std::string_view word(Cause);

/// What the response's head asks of a retrying client.
struct Hints {
  std::optional<Duration> retry_after;  ///< longest pause asked for; absent for junk and for 0
  std::optional<Duration>
      aws_retry_after;        ///< x-amz-retry-after: kept between the backoff and the backoff + 5 s
  bool said_no = false;       ///< explicit pushback
  bool from_reprise = false;  ///< it came through another reprise, which has retried what it may (row D20)
};

struct Answered {
  int status = 0;  ///< 200 to 999; interim responses are never an outcome
  Hints hints;
  bool body_listed = false;   ///< a predicate of the route matches the held body, or the head
  bool body_refused = false;  ///< and that predicate says that nothing was done
};

struct Failed {
  Stage stage = Stage::connect;
  Cause cause = Cause::refused;
  /// For `parent_refused`: the status that the parent proxy gave to our CONNECT; 0: none.
  int received_status = 0;
  /// For `tls_certificate_error`: why it proves nothing, as the TLS library says it, without a number and
  /// without a word of the other side. For other failures of TLS: the name of the alert that came. For
  /// `malformed_response`: a transfer coding that is not supported. Lives for ever; empty: not told.
  std::string_view why{};
  /// For `dns_error`: there is no such name, and this process has never resolved it.
  bool never_existed = false;
  /// For `tls_certificate_error` and `tls_alert_received`: the other side is the parent proxy.
  bool of_parent = false;
};

using Outcome = std::variant<Answered, Failed>;

/// True for a response whose body broke while all of it was held back: what came of it can still be given.
bool is_broken_response(const Outcome&);

/// True for what this host, its resolver or its parent proxy
/// is to blame for: it says nothing of the upstream (row L27).
bool is_fault_of_ours(Cause);
/// The same; a certificate of the parent proxy says nothing of the upstream either.
bool is_fault_of_ours(const Failed&);

/// True where it ended before a byte of it had left this host, so that nobody was burdened with it.
/// `all_unsent`: the kernel had taken nothing.
bool is_unsent(const Outcome&, bool all_unsent);

/// Every word of the `outcome` label.
inline constexpr auto outcome_labels =
    std::to_array<std::string_view>({"2xx", "3xx", "4xx", "5xx", "other", "resolve", "connect", "tls",
                                     "reset", "timeout", "truncated", "cancelled"});

/// The `outcome` label of an attempt. A malformed head counts as `reset`: no complete head came.
std::string_view outcome_label(const Outcome&);

}  // namespace reprise::policy
