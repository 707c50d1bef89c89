#include "proxy/net/open_tunnel.hpp"

#include <boost/asio/buffer.hpp>

#include "proxy/net/first_words.hpp"

namespace reprise::net {

using http::FirstWords;

namespace {

// The client's buffer holds the request's head, which is read again at the end: what came behind it moves on.
void take_early(Request& request, Buffer& from_client) {
  if (from_client.empty()) return;
  const std::string_view bytes = from_client.view();
  Buffer& early = request.early;
  while (early.room_left() < bytes.size()) early.grow();
  early.commit(asio::buffer_copy(early.room(), asio::buffer(bytes)));
  from_client.consume(bytes.size());
}

Task<ErrorCode> answer_connect(Request& request, Stream& client) {
  request.answer_head.assign("HTTP/1.1 200 Connection established\r\n")
      .append(request.answer_fields)
      .append("\r\n");
  Gather pieces;
  pieces.add(request.answer_head);
  co_return co_await client.write_all(pieces, request.policy->idle_timeout);
}

}  // namespace

Task<void> carry_tunnel(Loop& loop, Request& request, ClientSide client, Answer& answer, Served& served) {
  take_early(request, client.buffer);
  // Behind a body that was read as it came, the first bytes of the new protocol were read with its end.
  take_early(request, request.body.read_beyond());
  // Either side may pause, and the kernel counts a shut window as death.
  answer.connection->stream().set_user_timeout(request.policy->idle_timeout);
  Tunnel tunnel(loop, client.stream, answer.connection->stream(), request.policy->idle_timeout);
  client.tunnel = &tunnel;
  Tick::disarm(client.watch);
  const observe::TunnelOutcome outcome = co_await tunnel.run(request.early, answer.buffer);
  client.tunnel = nullptr;
  loop.shared.metrics.count_tunnel(outcome);
  served.request_bytes = request.hello_bytes + tunnel.bytes_up();
  served.response_bytes = tunnel.bytes_down();
  served.keep_alive = false;
}

Task<bool> answer_and_listen(Loop& loop, Request& request, ClientSide client, Answer& answer) {
  if (co_await answer_connect(request, client.stream)) co_return false;
  request.opened = true;
  take_early(request, client.buffer);
  const http::Connect tunnel{request.view.host, request.view.port, request.head.target};
  request.words = FirstWords::opaque;
  // What came with the 2xx of a parent proxy is the upstream's first word.
  const bool spoke = !answer.buffer.empty();
  if (request.policy->mode != policy::Mode::off && !spoke)
    request.words =
        co_await first_words(loop, client.stream, request.early, answer.connection->stream(), tunnel);
  co_return true;
}

Task<Delivered> open_tunnel(Loop& loop, Request& request, ClientSide client, Answer& answer) {
  Delivered delivered;
  delivered.served.status = 200;
  if (!request.opened && !co_await answer_and_listen(loop, request, client, answer)) {
    delivered.end = Relayed::End::client_gone;
  } else if (request.words == FirstWords::http) {
    loop.shared.metrics.count_tunnel(observe::TunnelOutcome::http);
    loop.pool.give_unused(std::move(answer.connection));
    delivered.served.inside = delivered.served.keep_alive = true;
  } else {
    co_await carry_tunnel(loop, request, client, answer, delivered.served);
  }
  co_return delivered;
}

}  // namespace reprise::net
