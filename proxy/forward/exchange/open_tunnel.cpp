#include "proxy/forward/exchange/open_tunnel.hpp"

#include <boost/asio/buffer.hpp>

#include "proxy/forward/exchange/listen_to_client.hpp"
#include "proxy/forward/exchange/unread.hpp"
#include "proxy/forward/tunnel/socks5.hpp"

namespace reprise::forward {

using http::FirstWords;

namespace {

// The client's buffer holds the request's head, which is read again at the end: what came behind it moves on.
void take_early(Request& request, net::Buffer& from_client) {
  if (from_client.empty()) return;
  const std::string_view bytes = from_client.view();
  net::Buffer& early = request.early;
  while (early.room_left() < bytes.size()) early.grow();
  early.commit(asio::buffer_copy(early.room(), asio::buffer(bytes)));
  from_client.consume(bytes.size());
}

}  // namespace

Task<ErrorCode> accept_stream(Request& request, net::Stream& client, net::Buffer& from_client) {
  take_early(request, from_client);
  request.response_head.clear();
  if (request.entrance == Entrance::connect) {
    request.response_head.assign("HTTP/1.1 200 Connection established\r\n")
        .append(request.response_fields)
        .append("\r\n");
  } else if (request.entrance == Entrance::socks) {
    request.response_head = socks_success();
  }
  request.tunnel = TunnelProgress::opened;
  net::Gather pieces;
  pieces.add(request.response_head);
  co_return co_await client.write_all(pieces, request.policy->idle_timeout);
}

Task<void> carry_tunnel(Worker& worker, Request& request, ClientSide client, Response& response,
                        Served& served) {
  take_early(request, client.buffer);
  // Behind a body that was read as it came, the first bytes of the new protocol were read with its end.
  take_early(request, request.body.read_beyond());
  // Either side may pause, and the kernel counts a shut window as death.
  response.connection->stream().set_user_timeout(request.policy->idle_timeout);
  Tunnel tunnel(worker.tick, client.stream, response.connection->stream(), request.policy->idle_timeout);
  tunnel.when_client_finishes([&] { client.watch.report_finished(); });
  OpenTunnel open{tunnel, *request.upstream, response.connection->address()};
  net::GuardedPointer<OpenTunnel>::Guard under_way(client.tunnel, &open);
  net::Tick::disarm(client.watch);
  const telemetry::TunnelOutcome outcome =
      co_await tunnel.run(request.early, response.buffer, worker.draining);
  under_way.end();
  worker.shared.metrics.count_tunnel(outcome);
  served.request_bytes = request.hello_bytes + tunnel.bytes_up();
  served.response_bytes = tunnel.bytes_down();
  served.keep_alive = false;
}

Task<bool> accept_and_listen(Worker& worker, Request& request, ClientSide client, Response& response) {
  if (co_await accept_stream(request, client.stream, client.buffer)) co_return false;
  request.words = FirstWords::opaque;
  // What came with the 2xx of a parent proxy is the upstream's first word.
  const bool spoke = !response.buffer.empty();
  if (request.policy->mode != policy::Mode::off && !spoke)
    co_await listen_to_client(worker, request, client.stream, &response.connection->stream());
  co_return true;
}

Task<Delivered> open_tunnel(Worker& worker, Request& request, ClientSide client, Response& response) {
  Delivered delivered;
  delivered.served.status = 200;
  if (request.tunnel == TunnelProgress::asked &&
      !co_await accept_and_listen(worker, request, client, response)) {
    delivered.end = Relayed::End::client_gone;
    co_return delivered;
  }
  // Its client was silent while nothing was dialled.
  if (request.words == FirstWords::more)
    co_await listen_to_client(worker, request, client.stream, &response.connection->stream());
  delivered.served.carried = carried_by(request);
  if (is_over(request)) {
    delivered.end = Relayed::End::client_gone;
  } else if (request.goes_inside()) {
    if (request.words == FirstWords::http) {
      worker.shared.metrics.count_tunnel(telemetry::TunnelOutcome::http);
      worker.pool.give_unused(std::move(response.connection));
    }
    delivered.served.inside = delivered.served.keep_alive = true;
  } else {
    if (delivered.served.carried == telemetry::Carried::tls) count_unread(worker, request);
    co_await carry_tunnel(worker, request, client, response, delivered.served);
  }
  co_return delivered;
}

}  // namespace reprise::forward
