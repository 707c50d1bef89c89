#include "proxy/forward/exchange/deliver.hpp"

#include <array>
#include <charconv>

#include "proxy/forward/exchange/full_duplex.hpp"
#include "proxy/forward/exchange/open_tunnel.hpp"
#include "proxy/forward/exchange/record.hpp"
#include "proxy/http/grpc/failure.hpp"
#include "proxy/http/http1/rewrite.hpp"

namespace reprise::forward {

using policy::Ledger;
using policy::Reason;

namespace {

constexpr int proxy_authentication_required = 407;

void add_number(unsigned number, std::string& lines) {
  std::array<char, 10> digits{};
  lines.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

bool shows_outcome(const policy::RoutePolicy& policy) {
  return policy.response_headers != policy::ResponseHeaders::none;
}

// Writes the header lines of this proxy: the number of attempts and why there was no further attempt.
void write_own_fields(const Worker& worker, Request& request) {
  const Ledger& ledger = request.ledger();
  const policy::RoutePolicy& policy = *request.route.policy;
  std::string& lines = request.responses.own_fields;
  lines.clear();
  append_attempts(policy, static_cast<unsigned>(ledger.size()), lines);
  if (shows_outcome(policy) && ledger.reason != Reason::success)
    append_reason(policy::word(ledger.reason), lines);
  if (policy.response_headers == policy::ResponseHeaders::all && request.number != 0) {
    lines.append("Reprise-Request-Id: ");
    worker.shared.histories->append_id(lines, request.number);
    lines.append("\r\n");
  }
  if (ledger.ambiguous) lines.append("Reprise-Ambiguous: true\r\n");
}

// Returns true if another request may follow on the client's connection. Returns false for CONNECT, because
// bytes after a failed CONNECT were meant for the tunnel and are not a request (row G2).
bool may_stay_open(const OneExchange& one) {
  const http::RequestHead& head = one.request.in.head;
  return one.request.tunnel() == nullptr && head.minor_version > 0 && head.keep_alive() &&
         !one.worker.draining && !is_last(one.worker, one.request.in);
}

// Returns true if another request may follow after a generated response. False while the request body is
// incomplete, because waiting for the rest of the body is not worthwhile.
bool may_stay_open_after_reply(const OneExchange& one) {
  return one.request.out.body.complete() && may_stay_open(one);
}

// Adds a Proxy-Status line with `received-status` (RFC 9209) if an error response is delivered after retries.
void write_received_status(const Worker& worker, const Ledger& ledger, int status, std::string& lines) {
  if (status < 400 || ledger.size() < 2) return;
  lines.append("Proxy-Status: ").append(worker.shared.pseudonym).append("; received-status=");
  add_number(static_cast<unsigned>(status), lines);
  lines.append("\r\n");
}

// Returns the result of sending a generated response. `error`: why it could not be sent.
Served own_response(int status, bool keep_alive, const ErrorCode& error) {
  Served served;
  served.status = status;
  served.own_response = true;
  served.keep_alive = keep_alive && !error;
  if (error) served.ending = telemetry::Ending::client_gone;
  return served;
}

// Returns the status of a call that gets the proxy's own response (row M80).
policy::GrpcStatus status_of_call(const Route& route, const http::Reply& reply) {
  const std::optional<Instant>& deadline = route.facts.call_deadline;
  return http::status_of_failure(reply.status,
                                 reply.status == 504 && deadline && net::Tick::now() >= *deadline);
}

// Sends the proxy's own response to a gRPC call: one header block with the status of the call (row M80).
Task<Served> send_call_failure(OneExchange& one, const http::Reply& reply) {
  Responses& responses = one.request.responses;
  const policy::GrpcStatus status = status_of_call(one.request.route, reply);
  responses.head.clear();
  http::write_call_failure(reply, status, one.worker.date(), responses.own_fields, responses.head);
  one.client.end.add_head(responses.head, false);
  one.client.end.add_end({});
  const ErrorCode error =
      co_await one.client.end.send_rest(one.request.route.snapshot->settings.timers.header);
  Served served = own_response(200, false, error);
  if (!error) served.grpc = status;
  co_return served;
}

Task<Served> send_reply(OneExchange& one, http::Reply reply, bool keep_alive) {
  if (one.request.route.is_call) co_return co_await send_call_failure(one, reply);
  Responses& responses = one.request.responses;
  net::ClientEnd& client = one.client.end;
  responses.head.clear();
  http::write_reply_head(reply, one.worker.date(), responses.own_fields, !keep_alive, responses.head);
  client.add_head(responses.head, false);
  const bool has_body = one.request.in.head.method != "HEAD" && !reply.body.empty();
  if (has_body) client.add_piece(reply.body);
  client.add_end({});
  const ErrorCode error = co_await client.send_rest(one.request.route.snapshot->settings.timers.header);
  Served served = own_response(reply.status, keep_alive, error);
  if (has_body && !error) served.response_bytes = reply.body.size();
  co_return served;
}

// Sends a failure in the client's own protocol, for example SOCKS. `status`: what an HTTP client would get.
Task<Served> send_in_own_protocol(OneExchange& one, std::string_view bytes, int status) {
  net::Gather pieces;
  pieces.add(bytes);
  const Duration limit = one.request.route.snapshot->settings.timers.header;
  co_return own_response(status, false, co_await one.client.bytes->stream.write_all(pieces, limit));
}

void write_response_head(Worker& worker, Request& request, const Response& response, bool stays_open) {
  const Incoming& in = request.in;
  Responses& responses = request.responses;
  const bool upgraded = response.head.status == 101;
  http::ResponseRewrite rewrite;
  rewrite.client_minor_version = in.head.minor_version;
  rewrite.close = !upgraded && !stays_open;
  rewrite.chunked = sends_chunked(in, response);
  rewrite.over_http2 = in.head.over_http2;
  rewrite.via_pseudonym = worker.shared.pseudonym;
  rewrite.date = worker.date();
  rewrite.extra_fields = responses.own_fields;
  rewrite.drop_alt_svc = !addresses_a_proxy(in.kind);
  rewrite.gateway = responses.gateway ? &*responses.gateway : nullptr;
  responses.head.clear();
  http::write_response_head(response.head, rewrite, responses.head);
}

// Sends 502 in place of an upstream's 407, so that the client does not send its proxy password to the
// upstream (row J8).
Task<Served> refuse_proxy_authentication(OneExchange& one) {
  http::Reply reply;
  reply.status = 502;
  const bool by_parent = one.request.route.is_for_parent();
  reply.proxy_status = one.worker.shared.pseudonym +
                       (by_parent ? "; error=proxy_configuration_error" : "; error=http_protocol_error") +
                       "; received-status=407";
  reply.body =
      by_parent ? "reprise: the parent proxy asked for authentication (407): correct the user name and "
                  "password in the key parent\n"
                : "reprise: the upstream asked for proxy authentication (407), which only a proxy may do\n";
  return send_reply(one, std::move(reply), may_stay_open_after_reply(one));
}

// Sends the 101 and relays bytes from then on.
Task<void> deliver_upgrade(OneExchange& one, Response& response, Delivered& delivered) {
  one.client.end.add_head(one.request.responses.head, false);
  if (co_await one.client.end.send_rest(one.request.route.policy->idle_timeout)) {
    delivered.end = Relayed::End::client_gone;
    co_return;
  }
  delivered.served.carried = telemetry::Carried::upgraded;
  net::Buffer& early = std::get<Upgrade>(one.request.purpose).early;
  co_await carry_tunnel(one, early, response, delivered.served);
}

}  // namespace

bool is_last(const Worker& worker, const Incoming& in) { return worker.leaving || *in.listener_closed; }

void append_attempts(const policy::RoutePolicy& policy, unsigned attempts, std::string& lines) {
  if (!shows_outcome(policy)) return;
  lines.append("Reprise-Attempts: ");
  add_number(attempts, lines);
  lines.append("\r\n");
}

void append_reason(std::string_view reason, std::string& lines) {
  lines.append("Reprise-Reason: ").append(reason).append("\r\n");
}

Task<void> deliver_response(OneExchange& one, Response& response, Delivered& delivered) {
  auto& [worker, request, client] = one;
  write_own_fields(worker, request);
  if (TunnelRequest* const tunnel = request.tunnel()) {
    delivered = co_await open_tunnel(one, *tunnel, response);
    co_return;
  }
  const int status = response.head.status;
  if (status == proxy_authentication_required) {
    delivered.served = co_await refuse_proxy_authentication(one);
    co_return;
  }
  write_received_status(worker, request.ledger(), status, request.responses.own_fields);
  const bool stays_open = status != 101 && may_stay_open(one);
  write_response_head(worker, request, response, stays_open);

  delivered.served.status = status;
  delivered.served.keep_alive = stays_open;
  // A call may live for hours, and no attempt can follow (row M81).
  if (request.route.is_call && response.sending == nullptr && !response.overtook)
    request.out.body.release_held();
  if (status == 101) {
    co_await deliver_upgrade(one, response, delivered);
  } else {
    FullDuplex duplex(worker, request.out, response);
    if (response.sending != nullptr) co_await duplex.begin();
    net::ClientWatch::Attempt watched(client.watch,
                                      response.connection ? &response.connection.end() : nullptr);
    Relayed relayed = co_await relay(worker.pool, request.out, client.end, request.responses.head, response);
    if (response.sending != nullptr) co_await duplex.end(relayed);
    watched.end();  // the upstream connection may serve another request by now
    if (duplex.client_left()) {
      delivered.served.keep_alive = false;
      // A client that has got the whole response may end its own message early.
      if (relayed.end != Relayed::End::complete) relayed.end = Relayed::End::client_gone;
    }
    count_limit(worker.shared.metrics, relayed, client.end);
    delivered.end = relayed.end;
    if (relayed.end == Relayed::End::client_gone && !relayed.head_sent) delivered.served.status = 0;
    delivered.cause = relayed.cause;
    delivered.stalled = relayed.stalled;
    delivered.reset_code = relayed.reset_code;
    delivered.between_messages = relayed.between_messages;
    delivered.served.grpc = relayed.grpc;
    delivered.served.response_bytes = relayed.bytes;
    // The body broke because the client reset its connection, not because of the upstream.
    if (relayed.end == Relayed::End::broken && client.watch.client_reset())
      delivered.end = Relayed::End::client_gone;
  }
}

Task<Served> deliver_failure(OneExchange& one, bool gateway_timeout) {
  Request& request = one.request;
  write_own_fields(one.worker, request);
  const Ledger& ledger = request.ledger();
  http::Reply reply = http::failure_reply(ledger, gateway_timeout, one.worker.shared.pseudonym);
  if (const TunnelRequest* const tunnel = request.tunnel()) {
    // A client that does not speak HTTP (SOCKS, for example) gets the failure in its own protocol. The log
    // then has the status that an HTTP client would get.
    const auto* const failed = ledger.empty() ? nullptr : std::get_if<policy::Failed>(&ledger.back().outcome);
    std::string& text = request.responses.head;
    text.clear();
    if (tunnel->protocol->append_failed(failed == nullptr ? policy::Cause::cancelled : failed->cause, text))
      return send_in_own_protocol(one, text, reply.status);
  }
  return send_reply(one, std::move(reply), may_stay_open_after_reply(one));
}

std::string_view write_rejection(Worker& worker, Request& request, http::Rejection cause, bool closes) {
  worker.shared.metrics.count_rejection(static_cast<std::size_t>(cause));
  const http::Reply reply = http::rejection_reply(cause, worker.shared.pseudonym);
  log_rejection(worker, request, reply, cause);
  Responses& responses = request.responses;
  append_reason(reply.reason, responses.own_fields);
  if (request.in.view.is_call) {
    http::write_call_failure(reply, http::status_of_failure(reply.status, false), worker.date(),
                             responses.own_fields, responses.head);
    return responses.head;
  }
  http::write_reply(reply, worker.date(), responses.own_fields, closes, request.in.head.method == "HEAD",
                    responses.head);
  return responses.head;
}

Task<Served> deliver_rejection(OneExchange& one, http::Rejection cause) {
  Worker& worker = one.worker;
  std::string& own_fields = one.request.responses.own_fields;
  worker.shared.metrics.count_rejection(static_cast<std::size_t>(cause));
  own_fields.clear();
  http::Reply reply = http::rejection_reply(cause, worker.shared.pseudonym);
  if (shows_outcome(*one.request.route.policy)) append_reason(reply.reason, own_fields);
  log_rejection(worker, one.request, reply, cause);
  return send_reply(one, std::move(reply), false);
}

}  // namespace reprise::forward
