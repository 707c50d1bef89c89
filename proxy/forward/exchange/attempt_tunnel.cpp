#include "proxy/forward/exchange/attempt_tunnel.hpp"

#include <optional>

#include "proxy/forward/attempt/lease.hpp"
#include "proxy/forward/exchange/deliver.hpp"
#include "proxy/forward/exchange/open_tunnel.hpp"
#include "proxy/forward/tunnel/client_hello.hpp"
#include "proxy/forward/tunnel/first_byte_watch.hpp"
#include "proxy/forward/tunnel/read_opening.hpp"
#include "proxy/net/io/failure.hpp"

namespace reprise::forward {

using policy::Cause;
using policy::Failed;
using policy::Stage;

namespace {

// Waits for the rest of a ClientHello, at most as long as for the first bytes of a stream. Returns false if
// the rest does not arrive.
Task<bool> read_hello(Worker& worker, net::Stream& client, net::Buffer& early) {
  if (early.empty()) co_return false;
  client.limit_read(worker.shared.sniff_limit);
  const Hello hello = co_await read_opening(client, early, judge_client_hello,
                                            [](Hello judged) { return judged == Hello::more; });
  client.end_limit();
  co_return hello == Hello::whole;
}

// Sends the ClientHello and waits until the upstream sends a byte or ends the connection, or the client sends
// more bytes. Returns the cause if the upstream has ended the connection. Otherwise the stream is an ordinary
// tunnel from then on.
Task<std::optional<Cause>> offer_hello(TunnelRequest& tunnel, Duration idle, net::Stream& client,
                                       net::Stream& upstream) {
  net::Gather pieces;
  pieces.add(tunnel.early.view());
  if (const ErrorCode error = co_await upstream.write_all(pieces, idle)) co_return net::cause_of(error);
  FirstByteWatch watch(client, upstream);
  upstream.limit_read(idle);
  co_await upstream.wait_readable();
  upstream.end_limit();
  co_await watch.stop();
  const ErrorCode end = detected_end(upstream);
  co_return end ? std::optional(net::cause_of(end)) : std::nullopt;
}

// Makes one attempt at a CONNECT. The attempt ends when the connection is established. The response is a
// generated 200 that owns the connection.
Task<void> attempt_connect(OneAttempt& one, const policy::Start& start) {
  AttemptResult& result = one.result;
  result.report.number = start.number;
  one.response.clear();
  if (const auto failed = co_await connect_for(one, one.deadline, result.report.address)) {
    result.outcome = *failed;
  } else {
    one.response.number = start.number;
    result.outcome = policy::Responded{200, {}};
  }
}

}  // namespace

Task<void> attempt_tunnel(OneAttempt& one, OneExchange& exchange, TunnelRequest& tunnel,
                          const policy::Start& start) {
  net::Stream& client = exchange.client.bytes->stream;
  Response& response = one.response;
  AttemptResult& result = one.result;
  co_await attempt_connect(one, start);
  const policy::RoutePolicy& policy = *one.out.route.policy;
  const bool replays = policy.replay_client_hello && policy.mode != policy::Mode::off;
  if (!replays || std::holds_alternative<Failed>(result.outcome)) co_return;
  net::Stream& upstream = response.connection.byte_stream();
  if (tunnel.progress == TunnelProgress::asked) {
    std::string& own_fields = exchange.request.responses.own_fields;
    own_fields.clear();
    append_attempts(policy, start.number, own_fields);
    if (!co_await accept_and_sniff(exchange, tunnel, response)) {
      response.clear();
      result.client = ClientState::gone;
      co_return;
    }
  }
  if (tunnel.progress == TunnelProgress::opened && tunnel.detected == http::DetectedProtocol::tls &&
      !tunnel.carries_requests() && response.buffer.empty() &&
      co_await read_hello(one.worker, client, tunnel.early))
    tunnel.progress = TunnelProgress::hello_held;
  if (tunnel.progress != TunnelProgress::hello_held || !response.buffer.empty()) co_return;
  net::AttemptCancel::Target target(one.cancel, upstream);
  const auto cause = co_await offer_hello(tunnel, policy.idle_timeout, client, upstream);
  target.end();
  if (cause || one.cancel.stopped()) {
    result.outcome = Failed{Stage::tls, one.cancel.stopped() ? Cause::cancelled : *cause};
    result.report.sent = policy::Sent::maybe;
    result.report.sent_bytes = upstream.sent_bytes();
    result.report.idempotent = policy::Idempotency::yes;
    response.clear();
  } else {
    tunnel.hello_bytes = tunnel.early.size();
    tunnel.early.consume(tunnel.early.size());
  }
}

}  // namespace reprise::forward
