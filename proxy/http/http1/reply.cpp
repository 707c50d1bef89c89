// Writes the proxy's own responses. All sentences are fixed: no part of a message and no address is included
// (row H9).
#include "proxy/http/http1/reply.hpp"

#include <array>

#include "proxy/http/http1/phrase.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/policy/decision/attempt_limit.hpp"

namespace reprise::http {
namespace {

struct FailureRow {
  policy::Cause cause;
  int status;
  std::string_view error;  ///< Proxy-Status error type (RFC 9209 2.3)
  std::string_view sentence;
};

constexpr std::array<FailureRow, policy::cause_count> failures{{
    {policy::Cause::dns_error, 502, "dns_error", "the name of the upstream does not resolve"},
    {policy::Cause::dns_timeout, 504, "dns_timeout", "the DNS resolver did not respond in time"},
    {policy::Cause::refused, 502, "connection_refused", "connection refused"},
    {policy::Cause::unreachable, 502, "destination_ip_unroutable", "no route to the upstream"},
    {policy::Cause::connect_timeout, 504, "connection_timeout",
     "no connection was established within connect_timeout or the deadline"},
    {policy::Cause::no_local_port, 503, "connection_limit_reached", "this host has no free local port"},
    {policy::Cause::no_descriptor, 503, "connection_limit_reached",
     "this process has no free file descriptor"},
    {policy::Cause::address_denied, 403, "destination_ip_prohibited",
     "security.deny lists every address of the upstream"},
    {policy::Cause::address_is_self, 508, "proxy_loop_detected", "the address is a listener of this proxy"},
    {policy::Cause::parent_unreachable, 502, "destination_unavailable", "the parent proxy cannot be reached"},
    {policy::Cause::parent_timeout, 504, "connection_timeout", "the parent proxy did not respond in time"},
    {policy::Cause::parent_refused, 502, "connection_refused", "the parent proxy refused to open a tunnel"},
    {policy::Cause::tls_protocol_error, 502, "tls_protocol_error", "TLS negotiation failed"},
    {policy::Cause::tls_certificate_error, 502, "tls_certificate_error",
     "the upstream's certificate could not be verified"},
    {policy::Cause::tls_alert_received, 502, "tls_alert_received",
     "the upstream rejected the TLS handshake with an alert"},
    {policy::Cause::closed, 502, "connection_terminated", "the upstream closed the connection"},
    {policy::Cause::reset, 502, "connection_terminated", "the connection was reset"},
    {policy::Cause::keepalive_lost, 502, "connection_terminated", "the upstream host stopped responding"},
    {policy::Cause::unacknowledged, 502, "connection_terminated",
     "the upstream's host acknowledged no byte of the request"},
    {policy::Cause::not_http2, 502, "http_protocol_error", "the upstream does not speak HTTP/2"},
    {policy::Cause::stream_refused, 502, "connection_refused", "the upstream refused the HTTP/2 stream"},
    {policy::Cause::stream_reset, 502, "connection_terminated", "the upstream reset the HTTP/2 stream"},
    {policy::Cause::goaway, 502, "connection_terminated",
     "the upstream is closing the HTTP/2 connection and did not process the request"},
    {policy::Cause::http_1_1_required, 502, "http_protocol_error", "the upstream requires HTTP/1.1"},
    {policy::Cause::attempt_timeout, 504, "http_response_timeout",
     "no response within attempt_timeout or the deadline"},
    {policy::Cause::response_timeout, 504, "http_response_timeout", "no response within response_timeout"},
    {policy::Cause::malformed_response, 502, "http_protocol_error", "the response is malformed or ambiguous"},
    {policy::Cause::header_too_large, 502, "http_response_header_section_size",
     "the response head is larger than limits.header or limits.header_fields"},
    {policy::Cause::truncated, 502, "http_response_incomplete", "the response ended early"},
    {policy::Cause::cancelled, 503, "proxy_internal_response", "the attempt was cancelled"},
    {policy::Cause::replay_lost, 502, "proxy_internal_error",
     "the held request body could not be read back from disk"},
}};

static_assert(policy::follows_enumerators(failures, [](const FailureRow& row) { return row.cause; }));

constexpr const FailureRow& row(policy::Cause cause) { return failures[static_cast<std::size_t>(cause)]; }

std::string_view stage_text(policy::Stage stage) {
  switch (stage) {
    case policy::Stage::resolve: return "while resolving the upstream's name";
    case policy::Stage::connect: return "while connecting to the upstream";
    case policy::Stage::tls: return "in the TLS handshake with the upstream";
    case policy::Stage::send: return "while sending the request";
    case policy::Stage::await_head: return "while waiting for the response";
    case policy::Stage::head: return "while reading the response head";
    case policy::Stage::body: break;
  }
  return "while reading the response body";
}

/// Returns the Proxy-Status error of a failure. A connection that breaks in the TLS handshake is a TLS error,
/// whichever error the socket reported. A timeout in the handshake is a connection timeout.
std::string_view error_of(const policy::Failed& failed) {
  const bool broke = failed.cause == policy::Cause::closed || failed.cause == policy::Cause::reset ||
                     failed.cause == policy::Cause::malformed_response;
  if (failed.stage == policy::Stage::tls && broke) return "tls_protocol_error";
  return proxy_status_error(failed.cause);
}

struct StatusAndError {
  int status;
  std::string_view error;
};

StatusAndError status_and_error_of(policy::Unattempted unattempted) {
  switch (unattempted) {
    case policy::Unattempted::forbidden: return {403, "destination_ip_prohibited"};
    case policy::Unattempted::too_late: return {504, "http_response_timeout"};
    case policy::Unattempted::unavailable: return {503, "destination_unavailable"};
    case policy::Unattempted::never: break;
  }
  return {503, "proxy_internal_response"};
}

void begin_sentence(unsigned number, const policy::Ledger& ledger, Reply& reply) {
  ascii::append(reply.body, "reprise: attempt ", std::to_string(number), " of ",
                std::to_string(ledger.size()));
}

// Describes the failure. If the TLS handshake with the parent proxy failed, names the parent, because the
// upstream was never reached.
std::string what_failed(const policy::Failed& failed) {
  if (failed.of_parent) {
    std::string text(" failed in the TLS handshake with the parent proxy: the parent proxy");
    return text + (failed.cause == policy::Cause::tls_alert_received
                       ? " rejected the TLS handshake with an alert"
                       : "'s certificate could not be verified");
  }
  std::string text(" failed ");
  ascii::append(text, stage_text(failed.stage), ": ", row(failed.cause).sentence);
  return text;
}

void describe_failure(const policy::Failed& failed, std::string_view pseudonym, Reply& reply) {
  reply.status = status_of(failed.cause);
  ascii::append(reply.proxy_status, pseudonym, "; error=", error_of(failed));
  const std::string received = std::to_string(failed.received_status);
  if (failed.received_status != 0) ascii::append(reply.proxy_status, "; received-status=", received);
  reply.body += what_failed(failed);
  if (!failed.why.empty()) ascii::append(reply.body, " (", failed.why, ")");
  reply.body += "\n";
  if (failed.cause == policy::Cause::tls_certificate_error)
    ascii::append(reply.body, failed.of_parent ? parent_certificate_advice : certificate_advice, "\n");
  if (failed.cause == policy::Cause::tls_alert_received && !failed.of_parent)
    ascii::append(reply.body, client_certificate_advice, "\n");
}

void describe_lost_attempt(const policy::Ledger& ledger, std::string_view pseudonym, Reply& reply) {
  begin_sentence(ledger.lost()->number, ledger, reply);
  describe_failure(ledger.lost()->failure, pseudonym, reply);
  const policy::LedgerEntry& last = ledger.back();
  if (const auto* responded = std::get_if<policy::Responded>(&last.outcome))
    ascii::append(reply.body, "attempt ", std::to_string(last.attempt.number), " got status ",
                  std::to_string(responded->status),
                  ", which may only mean that an earlier attempt took effect\n");
}

void describe_last_attempt(const policy::Ledger& ledger, bool gateway_timeout, std::string_view pseudonym,
                           Reply& reply) {
  const policy::LedgerEntry& last = ledger.back();
  begin_sentence(last.attempt.number, ledger, reply);
  if (const auto* failed = std::get_if<policy::Failed>(&last.outcome))
    return describe_failure(*failed, pseudonym, reply);
  const std::string status = std::to_string(std::get<policy::Responded>(last.outcome).status);
  reply.status = 502;
  ascii::append(reply.proxy_status, pseudonym, gateway_timeout ? "; error=http_response_timeout" : "",
                "; received-status=", status);
  ascii::append(reply.body, " got status ", status,
                gateway_timeout ? "; out_of_time of the route asks for a 504 in place of that response\n"
                                : "; that response was not kept and cannot be delivered\n");
}

}  // namespace

Reply rejection_reply(Rejection cause, std::string_view pseudonym) {
  Reply reply;
  reply.status = status_of(cause);
  reply.reason = word(cause);
  ascii::append(reply.proxy_status, pseudonym, "; error=", proxy_status_error(cause));
  ascii::append(reply.body, "reprise: request rejected: ", word(cause), "\n", sentence(cause), "\n");
  return reply;
}

Reply failure_reply(const policy::Ledger& ledger, bool gateway_timeout, std::string_view pseudonym) {
  Reply reply;
  reply.reason = policy::word(ledger.reason);
  if (ledger.empty()) {
    const StatusAndError no_attempt = status_and_error_of(policy::unattempted(ledger.reason));
    reply.status = no_attempt.status;
    ascii::append(reply.proxy_status, pseudonym, "; error=", no_attempt.error);
    reply.body = "reprise: no attempt was made\n";
  } else if (ledger.reason == policy::Reason::ambiguous_outcome) {
    describe_lost_attempt(ledger, pseudonym, reply);
  } else {
    describe_last_attempt(ledger, gateway_timeout, pseudonym, reply);
  }
  if (gateway_timeout) reply.status = 504;
  ascii::append(reply.body, "not retried: ", reply.reason, " (", policy::meaning_of_end(ledger), ")\n");
  return reply;
}

void write_reply_head(const Reply& reply, std::string_view date, std::string_view extra_fields, bool close,
                      std::string& out) {
  ascii::append(out, "HTTP/1.1 ", std::to_string(reply.status), " ", reason_phrase(reply.status),
                "\r\nDate: ", date,
                "\r\nContent-Type: text/plain\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ",
                std::to_string(reply.body.size()), "\r\n");
  if (!reply.proxy_status.empty()) ascii::append(out, "Proxy-Status: ", reply.proxy_status, "\r\n");
  out += extra_fields;
  if (close) out += "Connection: close\r\n";
  out += "\r\n";
}

void write_reply(const Reply& reply, std::string_view date, std::string_view extra_fields, bool close,
                 bool head_only, std::string& out) {
  write_reply_head(reply, date, extra_fields, close, out);
  if (!head_only) out += reply.body;
}

int status_of(policy::Cause cause) { return row(cause).status; }
std::string_view proxy_status_error(policy::Cause cause) { return row(cause).error; }

}  // namespace reprise::http
