#include "proxy/forward/exchange/open_tunnel.hpp"

#include <boost/asio/buffer.hpp>

#include "proxy/forward/exchange/sniff_stream.hpp"
#include "proxy/forward/exchange/unread.hpp"
#include "proxy/net/streams/http2_upstream_link.hpp"

namespace reprise::forward {

using http::DetectedProtocol;

namespace {

// Moves the bytes from the client's buffer to `early`. The bytes are copied, and the buffers are not swapped,
// because the client's buffer must keep the request head until the exchange is recorded.
void take_early(net::Buffer& early, net::Buffer& from_client) {
  if (from_client.empty()) return;
  const std::string_view bytes = from_client.view();
  while (early.room_left() < bytes.size()) early.grow();
  early.commit(asio::buffer_copy(early.room(), asio::buffer(bytes)));
  from_client.consume(bytes.size());
}

}  // namespace

Task<ErrorCode> accept_stream(TunnelRequest& tunnel, std::string_view own_fields, Duration idle,
                              net::Stream& client, net::Buffer& from_client) {
  take_early(tunnel.early, from_client);
  std::string opened;
  tunnel.protocol->append_opened(own_fields, opened);
  tunnel.progress = TunnelProgress::opened;
  net::Gather pieces;
  pieces.add(opened);
  co_return co_await client.write_all(pieces, idle);
}

Task<void> carry_tunnel(OneExchange& one, net::Buffer& early, Response& response, Served& served) {
  auto& [worker, request, client] = one;
  take_early(early, client.bytes->buffer);
  // The read that returned the end of a streamed request body may also have returned bytes of the new
  // protocol.
  take_early(early, client.bytes->body.read_beyond());
  // TCP_USER_TIMEOUT is set to `idle_timeout`. With a shorter timeout, the kernel would end a tunnel whose
  // receiver pauses, because this timeout also counts the time for which the receive window is closed.
  const Duration idle = request.route.policy->idle_timeout;
  std::unique_ptr<net::Stream> over_http2;
  if (response.connection.is_http2()) {
    auto link = std::make_unique<net::Http2UpstreamLink>(response.connection.stream().stream());
    over_http2 = std::make_unique<net::Stream>(worker.tick, std::move(link));
  }
  net::Stream& upstream = over_http2 != nullptr ? *over_http2 : response.connection.byte_stream();
  upstream.set_user_timeout(idle);
  Tunnel tunnel(worker.tick, client.bytes->stream, upstream, idle);
  tunnel.on_client_finished([&watch = client.watch] { watch.report_finished(); });
  OpenTunnel open{tunnel, *request.route.upstream, response.connection.address()};
  net::GuardedPointer<OpenTunnel>::Guard under_way(client.bytes->tunnel, &open);
  net::Tick::disarm(client.watch);
  const telemetry::TunnelOutcome outcome = co_await tunnel.run(early, response.buffer, worker.draining);
  under_way.end();
  worker.shared.metrics.count_tunnel(outcome);
  served.request_bytes = tunnel.bytes_up();
  served.response_bytes = tunnel.bytes_down();
  served.keep_alive = false;
}

Task<bool> accept_and_sniff(OneExchange& one, TunnelRequest& tunnel, Response& response) {
  auto& [worker, request, client] = one;
  const policy::RoutePolicy& policy = *request.route.policy;
  if (co_await accept_stream(tunnel, request.responses.own_fields, policy.idle_timeout, client.bytes->stream,
                             client.bytes->buffer))
    co_return false;
  tunnel.detected = DetectedProtocol::opaque;
  if (policy.mode == policy::Mode::off) co_return true;
  net::Stream& upstream = response.connection.byte_stream();
  // Bytes that came with the parent proxy's 2xx were sent by the upstream, so the upstream sent first. If
  // they are SETTINGS, only the client's bytes decide.
  const bool spoke = !response.buffer.empty();
  if (!spoke || http::begin_with_settings(response.buffer.view()))
    co_await sniff_stream(worker, request, tunnel, client.bytes->stream, spoke ? nullptr : &upstream);
  co_return true;
}

Task<Delivered> open_tunnel(OneExchange& one, TunnelRequest& tunnel, Response& response) {
  auto& [worker, request, client] = one;
  Delivered delivered;
  delivered.served.status = 200;
  if (tunnel.progress == TunnelProgress::asked && !co_await accept_and_sniff(one, tunnel, response)) {
    delivered.end = Relayed::End::client_gone;
    co_return delivered;
  }
  // Before the dial, the protocol could not be detected, because the client had sent nothing. So it is
  // detected now.
  if (tunnel.detected == DetectedProtocol::more)
    co_await sniff_stream(worker, request, tunnel, client.bytes->stream, &response.connection.byte_stream());
  delivered.served.carried = carried_by(tunnel);
  if (tunnel.is_over()) {
    delivered.end = Relayed::End::client_gone;
  } else if (tunnel.carries_requests()) {
    if (tunnel.detected != DetectedProtocol::tls) {
      worker.shared.metrics.count_tunnel(telemetry::TunnelOutcome::http);
      // A request inside cannot use a connection of which a part has been read.
      if (response.buffer.empty()) worker.pool.give_unused(response.connection.take_connection());
    }
    delivered.served.inside = delivered.served.keep_alive = true;
  } else {
    if (delivered.served.carried == telemetry::Carried::tls) count_unread(worker, tunnel);
    co_await carry_tunnel(one, tunnel.early, response, delivered.served);
    delivered.served.request_bytes += tunnel.hello_bytes;
  }
  co_return delivered;
}

}  // namespace reprise::forward
