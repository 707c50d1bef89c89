#include "proxy/net/deliver.hpp"

#include <array>
#include <charconv>

#include "proxy/http/rewrite.hpp"
#include "proxy/net/open_tunnel.hpp"

namespace reprise::net {

using policy::Answered;
using policy::Ledger;
using policy::Reason;

namespace {

constexpr int proxy_authentication_required = 407;

void add_number(unsigned number, std::string& lines) {
  std::array<char, 10> digits{};
  lines.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

// Our own lines: what was done, and why it stopped.
void write_own_fields(const Request& request, const Ledger& ledger, std::string& lines) {
  lines.clear();
  append_attempts(*request.policy, static_cast<unsigned>(ledger.size()), lines);
  if (request.policy->response_headers && ledger.reason != Reason::success)
    lines.append("Reprise-Reason: ").append(policy::word(ledger.reason)).append("\r\n");
  if (ledger.ambiguous) lines.append("Reprise-Ambiguous: true\r\n");
}

// What a client sent behind a CONNECT that failed was meant for the tunnel, and is no request (row G2).
bool may_stay_open(const Loop& loop, const Request& request) {
  return !request.tunnel && request.head.minor_version > 0 && request.head.keep_alive() &&
         request.body.complete() && !loop.draining;
}

// A refused upstream answer after retries says so by RFC 9209 too.
void write_received_status(const Loop& loop, const Ledger& ledger, int status, std::string& lines) {
  if (status < 400 || ledger.size() < 2) return;
  lines.append("Proxy-Status: ").append(loop.shared.pseudonym).append("; received-status=");
  add_number(static_cast<unsigned>(status), lines);
  lines.append("\r\n");
}

Task<Served> send_reply(Loop& loop, Request& request, ClientSide client, const http::Reply& reply,
                        bool keep_alive) {
  Served served;
  served.status = reply.status;
  served.own_answer = true;
  served.keep_alive = keep_alive;
  request.answer_head.clear();
  http::write_reply(reply, loop.date(), request.answer_fields, !keep_alive, request.head.method == "HEAD",
                    request.answer_head);
  Gather pieces;
  pieces.add(request.answer_head);
  if (co_await client.stream.write_all(pieces, loop.shared.settings.timers.header)) {
    served.ending = observe::Ending::client_gone;
    served.keep_alive = false;
  }
  co_return served;
}

void write_answer_head(Loop& loop, Request& request, const Answer& answer, bool stays_open) {
  const bool upgraded = answer.head.status == 101;
  http::ResponseRewrite rewrite;
  rewrite.client_minor_version = request.head.minor_version;
  rewrite.close = !upgraded && !stays_open;
  rewrite.chunked = sends_chunked(request, answer);
  rewrite.via_pseudonym = loop.shared.pseudonym;
  rewrite.date = loop.date();
  rewrite.extra_fields = request.answer_fields;
  rewrite.drop_alt_svc = request.gateway;
  rewrite.keep_upgrade = upgraded;
  request.answer_head.clear();
  http::write_response_head(answer.head, rewrite, request.answer_head);
}

// A client must not hand us its proxy password because an upstream asked for one (row J8).
Task<Delivered> refuse_proxy_authentication(Loop& loop, Request& request, ClientSide client) {
  http::Reply reply;
  reply.status = 502;
  const bool by_parent = is_for_parent(request);
  reply.proxy_status = loop.shared.pseudonym +
                       (by_parent ? "; error=proxy_configuration_error" : "; error=http_protocol_error") +
                       "; received-status=407";
  reply.body = by_parent
                   ? "reprise: the parent proxy asked for authentication (407): its configuration is wrong\n"
                   : "reprise: the upstream asked for proxy authentication (407), which no upstream may\n";
  Delivered delivered;
  delivered.served = co_await send_reply(loop, request, client, reply, may_stay_open(loop, request));
  co_return delivered;
}

}  // namespace

void append_attempts(const policy::RoutePolicy& policy, unsigned attempts, std::string& lines) {
  if (!policy.response_headers) return;
  lines.append("Reprise-Attempts: ");
  add_number(attempts, lines);
  lines.append("\r\n");
}

Task<Delivered> deliver_answer(Loop& loop, Request& request, ClientSide client, const Ledger& ledger,
                               Answer& answer) {
  write_own_fields(request, ledger, request.answer_fields);
  if (request.tunnel) co_return co_await open_tunnel(loop, request, client, answer);
  const int status = answer.head.status;
  if (status == proxy_authentication_required)
    co_return co_await refuse_proxy_authentication(loop, request, client);
  write_received_status(loop, ledger, status, request.answer_fields);
  const bool stays_open = status != 101 && may_stay_open(loop, request);
  write_answer_head(loop, request, answer, stays_open);

  Delivered delivered;
  delivered.served.status = status;
  delivered.served.keep_alive = stays_open;
  if (status == 101) {
    Gather pieces;
    pieces.add(request.answer_head);
    if (co_await client.stream.write_all(pieces, request.policy->idle_timeout)) {
      delivered.end = Relayed::End::client_gone;
    } else {
      co_await carry_tunnel(loop, request, client, answer, delivered.served);
    }
  } else {
    if (answer.connection != nullptr) client.watch.set_attempt(&answer.connection->stream());
    const Relayed relayed = co_await relay(loop.pool, request, client.stream, answer);
    count_limit(loop.shared.metrics, relayed, client.stream);
    delivered.end = relayed.end;
    // Where not one body byte went out, the head did not either: no status was sent.
    if (relayed.end == Relayed::End::client_gone && relayed.bytes == 0) delivered.served.status = 0;
    delivered.cause = relayed.cause;
    delivered.served.response_bytes = relayed.bytes;
    // A body that broke because the watch saw the client leave was not broken by the upstream.
    if (relayed.end == Relayed::End::broken && client.watch.client_reset())
      delivered.end = Relayed::End::client_gone;
    client.watch.set_attempt(nullptr);
  }
  co_return delivered;
}

Task<Served> deliver_failure(Loop& loop, Request& request, ClientSide client, const Ledger& ledger,
                             bool gateway_timeout) {
  write_own_fields(request, ledger, request.answer_fields);
  const http::Reply reply = http::failure_reply(ledger, gateway_timeout, loop.shared.pseudonym);
  co_return co_await send_reply(loop, request, client, reply, may_stay_open(loop, request));
}

Task<Served> deliver_rejection(Loop& loop, Request& request, ClientSide client, http::Cause cause) {
  loop.shared.metrics.count_rejection(static_cast<std::size_t>(cause));
  request.answer_fields.clear();
  const http::Reply reply = http::rejection_reply(cause, loop.shared.pseudonym);
  co_return co_await send_reply(loop, request, client, reply, false);
}

}  // namespace reprise::net
