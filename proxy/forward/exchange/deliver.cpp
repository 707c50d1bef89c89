#include "proxy/forward/exchange/deliver.hpp"

#include <array>
#include <charconv>

#include "proxy/forward/exchange/full_duplex.hpp"
#include "proxy/forward/exchange/open_tunnel.hpp"
#include "proxy/forward/exchange/record.hpp"
#include "proxy/forward/tunnel/socks5.hpp"
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

// Our own lines: what was done, and why it stopped.
void write_own_fields(const Worker& worker, const Request& request, const Ledger& ledger,
                      std::string& lines) {
  lines.clear();
  append_attempts(*request.policy, static_cast<unsigned>(ledger.size()), lines);
  if (shows_outcome(*request.policy) && ledger.reason != Reason::success)
    append_reason(policy::word(ledger.reason), lines);
  if (request.policy->response_headers == policy::ResponseHeaders::all && request.number != 0) {
    lines.append("Reprise-Request-Id: ");
    worker.shared.stories->append_id(lines, request.number);
    lines.append("\r\n");
  }
  if (ledger.ambiguous) lines.append("Reprise-Ambiguous: true\r\n");
}

// What a client sent behind a CONNECT that failed was meant for the tunnel, and is no request (row G2).
bool may_stay_open(const Worker& worker, const Request& request) {
  return !request.is_connect() && request.head.minor_version > 0 && request.head.keep_alive() &&
         !worker.draining && !is_last(worker, request);
}

// Behind a response of ours, what is left of a body is not worth waiting for.
bool may_stay_open_after_reply(const Worker& worker, const Request& request) {
  return request.body.complete() && may_stay_open(worker, request);
}

// A refused upstream response after retries says so by RFC 9209 too.
void write_received_status(const Worker& worker, const Ledger& ledger, int status, std::string& lines) {
  if (status < 400 || ledger.size() < 2) return;
  lines.append("Proxy-Status: ").append(worker.shared.pseudonym).append("; received-status=");
  add_number(static_cast<unsigned>(status), lines);
  lines.append("\r\n");
}

Task<Served> send_reply(Worker& worker, Request& request, ClientSide client, const http::Reply& reply,
                        bool keep_alive) {
  Served served;
  served.status = reply.status;
  served.own_response = true;
  served.keep_alive = keep_alive;
  request.response_head.clear();
  http::write_reply(reply, worker.date(), request.response_fields, !keep_alive, request.head.method == "HEAD",
                    request.response_head);
  net::Gather pieces;
  pieces.add(request.response_head);
  if (co_await client.stream.write_all(pieces, request.snapshot->settings.timers.header)) {
    served.ending = telemetry::Ending::client_gone;
    served.keep_alive = false;
  }
  co_return served;
}

// In the words of its client's protocol; the log has the status that another would have had.
Task<Served> send_socks_failure(Request& request, ClientSide client, const Ledger& ledger, int status) {
  const auto* const failed = ledger.empty() ? nullptr : std::get_if<policy::Failed>(&ledger.back().outcome);
  request.response_head = socks_failure(failed == nullptr ? policy::Cause::cancelled : failed->cause);
  Served served;
  served.status = status;
  served.own_response = true;
  net::Gather pieces;
  pieces.add(request.response_head);
  if (co_await client.stream.write_all(pieces, request.snapshot->settings.timers.header))
    served.ending = telemetry::Ending::client_gone;
  co_return served;
}

void write_response_head(Worker& worker, Request& request, const Response& response, bool stays_open) {
  const bool upgraded = response.head.status == 101;
  http::ResponseRewrite rewrite;
  rewrite.client_minor_version = request.head.minor_version;
  rewrite.close = !upgraded && !stays_open;
  rewrite.chunked = sends_chunked(request, response);
  rewrite.via_pseudonym = worker.shared.pseudonym;
  rewrite.date = worker.date();
  rewrite.extra_fields = request.response_fields;
  rewrite.drop_alt_svc = request.kind == RequestKind::gateway || request.kind == RequestKind::intercepted ||
                         request.kind == RequestKind::redirected;
  rewrite.gateway = request.gateway ? &*request.gateway : nullptr;
  request.response_head.clear();
  http::write_response_head(response.head, rewrite, request.response_head);
}

// A client must not hand us its proxy password because an upstream asked for one (row J8).
Task<Delivered> refuse_proxy_authentication(Worker& worker, Request& request, ClientSide client) {
  http::Reply reply;
  reply.status = 502;
  const bool by_parent = is_for_parent(request);
  reply.proxy_status = worker.shared.pseudonym +
                       (by_parent ? "; error=proxy_configuration_error" : "; error=http_protocol_error") +
                       "; received-status=407";
  reply.body = by_parent
                   ? "reprise: the parent proxy asked for authentication (407): its configuration is wrong\n"
                   : "reprise: the upstream asked for proxy authentication (407), which no upstream may\n";
  Delivered delivered;
  delivered.served =
      co_await send_reply(worker, request, client, reply, may_stay_open_after_reply(worker, request));
  co_return delivered;
}

}  // namespace

bool is_last(const Worker& worker, const Request& request) {
  return worker.leaving || *request.listener_closed;
}

void append_attempts(const policy::RoutePolicy& policy, unsigned attempts, std::string& lines) {
  if (!shows_outcome(policy)) return;
  lines.append("Reprise-Attempts: ");
  add_number(attempts, lines);
  lines.append("\r\n");
}

void append_reason(std::string_view reason, std::string& lines) {
  lines.append("Reprise-Reason: ").append(reason).append("\r\n");
}

Task<void> deliver_response(Worker& worker, Request& request, ClientSide client, const Ledger& ledger,
                            Response& response, Delivered& delivered) {
  write_own_fields(worker, request, ledger, request.response_fields);
  if (request.is_connect()) {
    delivered = co_await open_tunnel(worker, request, client, response);
    co_return;
  }
  const int status = response.head.status;
  if (status == proxy_authentication_required) {
    delivered = co_await refuse_proxy_authentication(worker, request, client);
    co_return;
  }
  write_received_status(worker, ledger, status, request.response_fields);
  const bool stays_open = status != 101 && may_stay_open(worker, request);
  write_response_head(worker, request, response, stays_open);

  delivered.served.status = status;
  delivered.served.keep_alive = stays_open;
  if (status == 101) {
    net::Gather pieces;
    pieces.add(request.response_head);
    if (co_await client.stream.write_all(pieces, request.policy->idle_timeout)) {
      delivered.end = Relayed::End::client_gone;
    } else {
      delivered.served.carried = telemetry::Carried::upgraded;
      co_await carry_tunnel(worker, request, client, response, delivered.served);
    }
  } else {
    FullDuplex duplex(worker, request, response);
    if (response.sending != nullptr) co_await duplex.begin();
    net::ClientWatch::Attempt watched(
        client.watch, response.connection == nullptr ? nullptr : &response.connection->stream());
    Relayed relayed = co_await relay(worker.pool, request, client.stream, response);
    if (response.sending != nullptr) co_await duplex.end(relayed);
    watched.end();  // the connection may be another's by now
    if (duplex.client_left()) relayed.end = Relayed::End::client_gone;
    count_limit(worker.shared.metrics, relayed, client.stream);
    delivered.end = relayed.end;
    // Where not one body byte went out, the head did not either: no status was sent.
    if (relayed.end == Relayed::End::client_gone && relayed.bytes == 0) delivered.served.status = 0;
    delivered.cause = relayed.cause;
    delivered.stalled = relayed.stalled;
    delivered.served.response_bytes = relayed.bytes;
    // A body that broke because the watch saw the client leave was not broken by the upstream.
    if (relayed.end == Relayed::End::broken && client.watch.client_reset())
      delivered.end = Relayed::End::client_gone;
  }
}

Task<Served> deliver_failure(Worker& worker, Request& request, ClientSide client, const Ledger& ledger,
                             bool gateway_timeout) {
  write_own_fields(worker, request, ledger, request.response_fields);
  const http::Reply reply = http::failure_reply(ledger, gateway_timeout, worker.shared.pseudonym);
  if (request.entrance == Entrance::socks && request.is_connect())
    co_return co_await send_socks_failure(request, client, ledger, reply.status);
  co_return co_await send_reply(worker, request, client, reply, may_stay_open_after_reply(worker, request));
}

Task<Served> deliver_rejection(Worker& worker, Request& request, ClientSide client, http::Rejection cause) {
  worker.shared.metrics.count_rejection(static_cast<std::size_t>(cause));
  request.response_fields.clear();
  const http::Reply reply = http::rejection_reply(cause, worker.shared.pseudonym);
  if (shows_outcome(*request.policy)) append_reason(reply.reason, request.response_fields);
  log_rejection(worker, request, reply, cause);
  co_return co_await send_reply(worker, request, client, reply, false);
}

}  // namespace reprise::forward
